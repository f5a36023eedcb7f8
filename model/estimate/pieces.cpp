#include "model/estimate/pieces.hpp"

#include <algorithm>

namespace mansard::model::estimators {

using ir::Expr;

namespace {

constexpr double kNoTime = 1e-18;  ///< Keeps 0 / 0 out.

}  // namespace

std::optional<Chip> chip_of(const OpContext& context) {
  const Expr sms = context.capacities.known("sm_count");
  const Expr clock = context.capacities.known("clock.max");
  // A chip of one or two large cores (a TPU) is no machine of many processors: it says nothing of
  // warps.
  const bool is_gpu = static_cast<bool>(context.capacities.known("occupancy.warp_size"));
  return is_gpu && sms && clock ? std::optional(Chip{sms, clock}) : std::nullopt;
}

Typed<Seconds> no_time(const OpContext& context) {
  return Typed<Seconds>(context.pool().constant(0, kSecond));
}

Typed<Seconds> overlap(Typed<Seconds> a, Typed<Seconds> b, Expr p) {
  const Expr greater = ir::max(ir::max(a.expr(), b.expr()), kNoTime);
  const Expr lesser = ir::min(a.expr(), b.expr());
  return Typed<Seconds>(greater * ir::pow(1 + ir::pow(lesser / greater, p), 1 / p));
}

Expr square_root(Expr x) {
  return ir::pow(x, x.pool().constant(0.5));
}

Expr share(Expr x) {
  return ir::min(ir::max(x, 0), 1);
}

Typed<Bytes> written_bytes(const OpContext& context) {
  Expr sum = context.pool().constant(0, kByte);
  for (const OperandDemand& operand : context.demand.operands) {
    if (operand.def->access == ir::Access::kWrite) {
      sum = sum + operand.bytes.expr();
    } else if (operand.def->access == ir::Access::kReadWrite) {
      sum = sum + operand.bytes.expr() / 2;  // Counted twice: once each way.
    }
  }
  return Typed<Bytes>(sum);
}

Typed<Seconds> traffic_time(const OpContext& context) {
  const Expr bytes = context.demand.bytes.expr();
  const Expr main = context.main.expr();
  Expr per_byte = 1 / (context.parameter("main") * main);
  if (const auto chip = chip_of(context); chip && context.capacities.known_cache_capacity()) {
    const Expr capacity = context.capacities.cache_capacity();
    const Expr from = context.parameter("cache_from") * capacity;
    const Expr to = context.parameter("cache_to") * capacity;
    const Expr cached = share((to - bytes) / (to - from));
    const Expr rate = context.parameter("cache", kBytePerCycle) * chip->sms * chip->clock;
    per_byte = cached / rate + (1 - cached) * per_byte;
  }
  const Expr writes = written_bytes(context).expr() / (context.parameter("write") * main);
  return Typed<Seconds>(ir::max(bytes * per_byte, writes));
}

Typed<Seconds> contraction_time(const OpContext& context) {
  if (!context.rate) {
    return no_time(context);
  }
  return Typed<Seconds>(context.demand.flops.expr() /
                        (context.parameter("matrix") * context.rate->peak.expr()));
}

Typed<Seconds> cycles_time(const OpContext& context, Expr work, Expr cycles) {
  const auto chip = chip_of(context);
  return chip ? Typed<Seconds>(work * cycles / (chip->sms * chip->clock)) : no_time(context);
}

Expr dynamic_power(const OpContext& context) {
  const Expr cap = context.capacities.known("power.cap");
  if (!cap || !is_capped_alone(context.options)) {
    return {};
  }
  if (const Expr idle = context.capacities.known("power.idle")) {
    return cap - idle;
  }
  return context.parameters.get("power", "", "dynamic", kNumber) * cap;
}

OpEstimate choose(Expr condition, const OpEstimate& yes, const OpEstimate& no) {
  if (condition.is_constant()) {
    return condition.constant() != 0 ? yes : no;
  }
  const auto pick = [&](Typed<Seconds> a, Typed<Seconds> b) {
    return Typed<Seconds>(ir::select(condition, a.expr(), b.expr()));
  };
  const Typed<Seconds> none(condition.pool().constant(0, kSecond));
  OpEstimate result{.time = pick(yes.time, no.time),
                    .launches = ir::select(condition, yes.launches, no.launches)};
  if (yes.calls && no.calls) {
    result.calls = ir::select(condition, yes.calls, no.calls);
  }
  if (yes.below && no.below) {
    result.below = ir::select(condition, yes.below, no.below);
    result.above = ir::select(condition, yes.above, no.above);
  }
  std::vector<Term> rest = no.terms;
  for (const Term& term : yes.terms) {
    const auto other = std::ranges::find(rest, term.resource, &Term::resource);
    const bool both = other != rest.end();
    result.terms.push_back(
        {term.resource, pick(term.time, both ? other->time : none), term.metric});
    if (both) {
      rest.erase(other);
    }
  }
  for (const Term& term : rest) {
    result.terms.push_back({term.resource, pick(none, term.time), term.metric});
  }
  return result;
}

}  // namespace mansard::model::estimators
