#include "model/totals.hpp"

#include <algorithm>

namespace mansard::model {
namespace {

using ir::Expr;

struct Sums {
  Typed<Seconds> bound, estimate, low, high, host;
  Typed<Joules> joules, dynamic;
};

Sums sums_of(const CostModel& model) {
  ir::ExprPool& pool = model.graph->pool();
  const Typed<Seconds> no_time(pool.constant(0, kSecond));
  const Typed<Joules> no_energy(pool.constant(0, kJoule));
  Sums sums{no_time, no_time, no_time, no_time, no_time, no_energy, no_energy};
  for (const OpCost& op : model.ops) {
    const double count = model.count(op);
    sums.bound = sums.bound + count * op.bound;
    sums.estimate = sums.estimate + count * op.estimate;
    sums.low = sums.low + count * op.low;
    sums.high = sums.high + count * op.high;
    sums.host = sums.host + count * op.host;
    if (op.joules) {
      sums.joules = sums.joules + count * op.joules;
      sums.dynamic = sums.dynamic + count * op.dynamic_joules;
    }
  }
  return sums;
}

bool has_energy(const CostModel& model) {
  return std::ranges::all_of(model.ops, [](const OpCost& op) { return bool(op.joules); });
}

/// Time in which the power cap lets the energy of the whole step through; no time where it does not
/// bind.
Typed<Seconds> power_time(const TotalsContext& context, const CostModel& model, const Sums& sums) {
  const Expr cap = context.capacities.known("power.cap");
  const Expr idle = context.capacities.known("power.idle");
  if (!has_energy(model) || !cap || !idle || context.options.regime == Regime::kBurst) {
    return Typed<Seconds>(model.graph->pool().constant(0, kSecond));
  }
  return Typed<Seconds>(sums.dynamic.expr() / (cap - idle));
}

Typed<Seconds> step_time(const TotalsContext& context, const CostModel& model, const Sums& sums) {
  return max(max(sums.estimate, sums.host), power_time(context, model, sums));
}

/// The ops' and that of idling in what `time` is longer than their sum; absent if any op's is.
Typed<Joules> step_energy(const TotalsContext& context, const CostModel& model, const Sums& sums,
                          Typed<Seconds> time) {
  if (!has_energy(model)) {
    return {};
  }
  const Expr idle = context.capacities.known("power.idle");
  const Expr waiting = (time - sums.estimate).expr();
  return sums.joules + Typed<Joules>(idle * ir::max(waiting, 0));
}

StepOfSums step_of_sums(const TotalsContext& context, const CostModel& model) {
  ir::ExprPool& pool = model.graph->pool();
  Sums sums;
  sums.estimate = Typed<Seconds>(pool.symbol("sum.estimates", kSecond));
  sums.host = Typed<Seconds>(pool.symbol("sum.host", kSecond));
  sums.joules = Typed<Joules>(pool.symbol("sum.joules", kJoule));
  sums.dynamic = Typed<Joules>(pool.symbol("sum.dynamic", kJoule));
  const Typed<Seconds> time = step_time(context, model, sums);
  return {.time = time, .energy = step_energy(context, model, sums, time)};
}

/// A parameter of steps: of decode steps where one token of each sequence is new, else of prefill.
Expr step_parameter(const TotalsContext& context, const CostModel& model, std::string_view name) {
  const bool eager = context.options.mode == Mode::kEager;
  const auto of_phase = [&](std::string_view phase) {
    return context.parameters.get("step", phase, name, kNumber);
  };
  const Expr decode = of_phase(eager ? "decode.eager" : "decode");
  const Expr prefill = of_phase(eager ? "prefill.eager" : "prefill");
  const Expr new_tokens = model.graph->pool().find_symbol("q_len");
  return new_tokens ? ir::select(ir::less(new_tokens, 2), decode, prefill) : prefill;
}

}  // namespace

void add_totals(const TotalsContext& context, CostModel& model) {
  const Sums sums = sums_of(model);
  model.bound = sums.bound;
  model.low = sums.low;
  model.estimate = sums.estimate;
  model.high = sums.high;
  if (context.options.chained) {
    model.estimate = step_time(context, model, sums);
    const Expr below = step_parameter(context, model, "interval.low");
    const Expr above = step_parameter(context, model, "interval.high");
    model.low = max(model.bound, Typed<Seconds>(model.estimate.expr() / below));
    model.high = Typed<Seconds>(model.estimate.expr() * above);
  }
  model.joules = step_energy(context, model, sums, model.estimate);
  model.of_sums = step_of_sums(context, model);
}

}  // namespace mansard::model
