#include "ir/kernel_terms.hpp"

#include <cmath>

namespace mansard::ir {
namespace {

/// core + constant, either of which may be missing.
struct Parts {
  Expr core;
  double constant = 0;
};

Parts parts_of(Expr e) {
  if (e.is_constant()) {
    return {.core = {}, .constant = e.constant()};
  }
  if (e->kind == ExprKind::kAdd || e->kind == ExprKind::kSub) {
    const Expr a = e->operands[0];
    const Expr b = e->operands[1];
    const double sign = e->kind == ExprKind::kAdd ? 1 : -1;
    if (b.is_constant()) {
      return {.core = a, .constant = sign * b.constant()};
    }
    if (a.is_constant()) {
      return {.core = sign > 0 ? b : negative(b), .constant = a.constant()};
    }
  }
  return {.core = e, .constant = 0};
}

/// The x of -1 * x, or nothing.
Expr negated(Expr e) {
  const bool minus_one =
      e->kind == ExprKind::kMul && e->operands[0].is_constant() && e->operands[0].constant() == -1;
  return minus_one ? e->operands[1] : Expr();
}

Expr joined(ExprPool& pool, const Parts& parts) {
  if (!parts.core) {
    return pool.constant(parts.constant);
  }
  if (parts.constant == 0) {
    return parts.core;
  }
  return parts.constant < 0 ? parts.core - -parts.constant : parts.core + parts.constant;
}

Expr sum_of(Expr a, Expr b) {
  if (!a || !b) {
    return a ? a : b;
  }
  if (const Expr x = negated(b)) {
    return x == a ? Expr() : a - x;
  }
  if (const Expr x = negated(a)) {
    return x == b ? Expr() : b - x;
  }
  return a + b;
}

}  // namespace

Expr negative(Expr e) {
  if (e.is_constant()) {
    return e.pool().constant(0 - e.constant());
  }
  if (e->kind == ExprKind::kMul && e->operands[0].is_constant()) {
    return -e->operands[0].constant() * e->operands[1];
  }
  if (e->kind == ExprKind::kSub) {
    return minus(e->operands[1], e->operands[0]);
  }
  return -1.0 * e;
}

Expr plus(Expr a, Expr b) {
  const Parts x = parts_of(a);
  const Parts y = parts_of(b);
  return joined(a.pool(), {.core = sum_of(x.core, y.core), .constant = x.constant + y.constant});
}

Expr minus(Expr a, Expr b) {
  const Parts x = parts_of(a);
  const Parts y = parts_of(b);
  Expr core = x.core;
  if (y.core) {
    core = x.core == y.core ? Expr() : sum_of(x.core, negative(y.core));
  }
  return joined(a.pool(), {.core = core, .constant = x.constant - y.constant});
}

Expr quotient(Expr a, Expr b, bool up) {
  if (!b.is_constant()) {
    return up ? ceil_div(a, b) : floor_div(a, b);
  }
  const double by = b.constant();
  if (by == 1) {
    return a;
  }
  Parts parts = parts_of(a);
  const double whole = std::floor(parts.constant / by);
  parts.constant -= whole * by;
  const Expr rest = joined(a.pool(), parts);
  // x - x mod b is a multiple already: what is divided is x.
  const bool rounded = parts.constant == 0 && rest->kind == ExprKind::kSub &&
                       rest->operands[1]->kind == ExprKind::kMod &&
                       rest->operands[1]->operands[0] == rest->operands[0] &&
                       rest->operands[1]->operands[1] == b;
  const Expr divided = rounded ? floor_div(rest->operands[0], b)
                       : up    ? ceil_div(rest, b)
                               : floor_div(rest, b);
  return plus(divided, a.pool().constant(whole));
}

}  // namespace mansard::ir
