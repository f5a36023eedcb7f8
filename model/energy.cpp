#include "model/energy.hpp"

namespace mansard::model {
namespace {

using ir::Expr;

constexpr double kLeast = 1e-18;  ///< Keeps 0 / 0 out.

Expr parameter(const OpContext& context, std::string_view name, const Dimension& dimension) {
  return context.parameters.get("energy", context.arithmetic(), name, dimension);
}

/// Joules of all bytes that move.
Expr traffic(const OpContext& context) {
  const Expr read = parameter(context, "read", kJoule - kByte);
  const Expr write = parameter(context, "write", kJoule - kByte);
  const Expr cache = parameter(context, "cache", kJoule - kByte);
  Expr sum = context.pool().constant(0, kJoule);
  for (const OperandDemand& operand : context.demand.operands) {
    const Expr main = operand.main.expr();
    const Expr cached = (operand.bytes - operand.main).expr() * cache;
    switch (operand.def->access) {
      case ir::Access::kRead:
        sum = sum + main * read + cached;
        break;
      case ir::Access::kWrite:
        sum = sum + main * write + cached;
        break;
      case ir::Access::kReadWrite:
        sum = sum + main * (read + write) / 2 + cached;
        break;
    }
  }
  return sum;
}

/// (a^p + b^p)^(1/p) of two energies.
Expr combined(const OpContext& context, Expr a, Expr b) {
  const Expr p = parameter(context, "overlap", kNumber);
  const Expr greater = ir::max(ir::max(a, b), kLeast);
  return greater * ir::pow(1 + ir::pow(ir::min(a, b) / greater, p), 1 / p);
}

Expr dynamic_energy(const OpContext& context, Typed<Seconds> busy) {
  const Expr moved = traffic(context);
  if (!context.rate) {
    return busy ? ir::max(moved, parameter(context, "active", kWatt) * busy.expr()) : moved;
  }
  const Expr computed = context.demand.flops.expr() * parameter(context, "flop", kJoule - kFlop);
  return combined(context, computed, moved);
}

}  // namespace

OpEnergy energy_of(const OpContext& context, Typed<Seconds> time, Typed<Seconds> busy) {
  const Expr cap = context.capacities.known("power.cap");
  const Expr idle = context.capacities.known("power.idle");
  if (!cap || !idle || !context.parameters.has("energy", "", "read")) {
    return {};
  }
  const Expr dynamic = dynamic_energy(context, busy);
  const Expr total = ir::min(cap * time.expr(), idle * time.expr() + dynamic);
  return {.dynamic = Typed<Joules>(dynamic), .total = Typed<Joules>(total)};
}

}  // namespace mansard::model
