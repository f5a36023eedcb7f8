#include "validate/measure/routing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mansard::measure {
namespace {

/// min(tokens, factor x weight), the factor such that they sum to `routed`: by bisection.
std::vector<double> shares(const std::vector<double>& weights, double tokens, double routed) {
  const auto share = [&](double factor, double weight) {
    return std::min(tokens, factor * weight);
  };
  const auto total = [&](double factor) {
    return std::accumulate(weights.begin(), weights.end(), 0.0,
                           [&](double sum, double weight) { return sum + share(factor, weight); });
  };
  double low = 0;
  double high = tokens / weights.back();
  constexpr int kSteps = 200;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (total(middle) < routed ? low : high) = middle;
  }
  std::vector<double> result;
  for (const double weight : weights) {
    result.push_back(share(high, weight));
  }
  return result;
}

}  // namespace

std::vector<std::int64_t> rows_of_experts(std::int64_t experts, std::int64_t tokens,
                                          std::int64_t top_k, Spread spread) {
  std::vector<double> weights;
  for (std::int64_t e = 0; e < experts; ++e) {
    weights.push_back(spread == Spread::kZipf ? 1.0 / static_cast<double>(e + 1) : 1.0);
  }
  const std::vector<double> due =
      shares(weights, static_cast<double>(tokens), static_cast<double>(tokens * top_k));
  std::vector<std::int64_t> rows;
  std::int64_t left = tokens * top_k;
  for (const double share : due) {
    rows.push_back(static_cast<std::int64_t>(share));
    left -= rows.back();
  }
  std::vector<std::size_t> order(due.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t e) {
    return std::pair(static_cast<double>(rows[e]) - due[e], e);
  });
  for (std::size_t i = 0; left > 0; i = (i + 1) % order.size()) {
    const bool room = rows[order[i]] < tokens;
    rows[order[i]] += room ? 1 : 0;
    left -= room ? 1 : 0;
  }
  return rows;
}

}  // namespace mansard::measure
