#include "validate/baseline.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace mansard::validate {
namespace {

/// Logarithms of the start time (second) and of the two efficiencies.
using Constants = std::array<double, 3>;

double estimate(const Comparison& row, const Constants& c) {
  return std::exp(c[0]) + std::max(row.compute / std::exp(c[1]), row.memory / std::exp(c[2]));
}

double error(const std::vector<Comparison>& rows, const Constants& constants) {
  double sum = 0;
  for (const Comparison& row : rows) {
    sum += std::abs(std::log(estimate(row, constants) / row.row->median_s));
  }
  return sum;
}

/// Pattern search: a step along each axis while it helps, then half the step.
Constants fit(const std::vector<Comparison>& rows) {
  constexpr double kSmallestStep = 1e-3;
  Constants best{std::log(3e-6), std::log(0.7), std::log(0.8)};
  double least = error(rows, best);
  for (double step = 0.5; step > kSmallestStep;) {
    bool improved = false;
    for (std::size_t axis = 0; axis < best.size(); ++axis) {
      for (const double sign : {-1.0, 1.0}) {
        Constants next = best;
        next[axis] += sign * step;
        if (const double e = error(rows, next); e < least) {
          best = next;
          least = e;
          improved = true;
        }
      }
    }
    step = improved ? step : step / 2;
  }
  return best;
}

}  // namespace

std::vector<double> three_constant_estimates(const std::vector<Comparison>& rows) {
  const Constants constants = fit(rows);
  std::vector<double> result;
  result.reserve(rows.size());
  for (const Comparison& row : rows) {
    result.push_back(estimate(row, constants));
  }
  return result;
}

}  // namespace mansard::validate
