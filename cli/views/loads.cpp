#include "cli/views/loads.hpp"

#include <algorithm>
#include <cmath>

namespace mansard::cli {
namespace {

using model::OpCost;
using model::Term;

/// The demand behind a term, least and expected.
struct Asked {
  ir::Expr least;
  ir::Expr expected;
};

bool is_rate(const std::string& resource) {
  return resource.starts_with("matrix.") || resource.starts_with("vector.");
}

Asked asked(const OpCost& op, model::Demanded demanded, bool contraction) {
  const model::Demand& demand = op.demand;
  switch (demanded) {
    case model::Demanded::kMainBytes:
      return {demand.main_least.expr(), demand.main_bytes.expr()};
    case model::Demanded::kCacheBytes:
      return {demand.bytes_least.expr(), demand.bytes.expr()};
    case model::Demanded::kLinkBytes:
      return {demand.link_bytes.expr(), demand.link_bytes.expr()};
    case model::Demanded::kWork:
      break;
  }
  const ir::Expr work = contraction ? demand.flops.expr() : demand.vector_flops.expr();
  return {work, work};
}

const Term* binding(const OpCost& op, const ir::Bindings& bindings) {
  const Term* greatest = nullptr;
  double most = 0;
  for (const Term& term : op.bound_terms) {
    const double seconds = ir::value(term.time.expr(), bindings);
    if (seconds > most) {
      most = seconds;
      greatest = &term;
    }
  }
  return greatest;
}

}  // namespace

std::vector<Load> loads(const OpCost& op, const ir::Bindings& bindings) {
  std::vector<Load> result;
  bool contraction = op.rate.has_value();
  for (const Term& term : op.bound_terms) {
    const bool is_contraction = contraction && term.resource == op.rate->field;
    const Asked demand = asked(op, term.demanded, is_contraction);
    contraction = contraction && !is_contraction;
    const double seconds = ir::value(term.time.expr(), bindings);
    if (seconds > 0 && demand.least) {
      result.push_back({.resource = term.resource,
                        .metric = term.metric,
                        .unit = demand.least.dimension(),
                        .demand = ir::value(demand.least, bindings),
                        .expected = ir::value(demand.expected, bindings),
                        .seconds = seconds});
    }
  }
  const auto greatest = std::ranges::max_element(result, {}, &Load::seconds);
  if (greatest != result.end()) {
    std::rotate(result.begin(), greatest, greatest + 1);
  }
  return result;
}

std::string capacity_path(const std::string& resource) {
  return is_rate(resource) ? resource : resource + ".bandwidth";
}

std::optional<Crossing> crossing(const OpCost& op, const ir::Bindings& bindings,
                                 const std::string& symbol) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const bool prefill = *bindings.find("q_len") != 1;
  const Term* now = binding(op, bindings);
  const auto at = [&](std::int64_t value) {
    ir::Bindings changed = bindings;
    changed.set(symbol, static_cast<double>(value));
    if (symbol == "context" && prefill) {
      changed.set("q_len", static_cast<double>(value));
    }
    return binding(op, changed);
  };
  const auto here = static_cast<std::int64_t>(*bindings.find(symbol));
  for (const bool above : {true, false}) {
    std::int64_t same = here;
    std::int64_t other = above ? here * 2 : here / 2;
    while (other >= 1 && other <= kMost && at(other) == now) {
      same = other;
      other = above ? other * 2 : other / 2;
    }
    if (other < 1 || other > kMost) {
      continue;
    }
    while (std::abs(other - same) > 1) {
      const std::int64_t middle = (same + other) / 2;
      (at(middle) == now ? same : other) = middle;
    }
    return Crossing{same, above, at(other)->resource};
  }
  return std::nullopt;
}

}  // namespace mansard::cli
