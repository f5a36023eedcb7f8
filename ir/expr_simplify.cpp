#include <cmath>
#include <optional>

#include "ir/expr_rules.hpp"
#include "ir/expr_semantics.hpp"

namespace mansard::ir {

namespace {

using enum ExprKind;

// Constants fold only where the result is exact, so that neither `value` nor `count` can change.
// Where an error term below could itself underflow, we do not fold.
constexpr double kSmallest = 0x1p-960;

bool is_safe(double result) {
  return std::isfinite(result) && (result == 0 || std::abs(result) >= kSmallest);
}

std::optional<double> exact_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  return std::isfinite(sum) && error == 0 ? std::optional(sum) : std::nullopt;
}

std::optional<double> exact_product(double a, double b) {
  const double product = a * b;
  const bool lost = product == 0 && a != 0 && b != 0;
  const bool exact = is_safe(product) && !lost && std::fma(a, b, -product) == 0;
  return exact ? std::optional(product) : std::nullopt;
}

std::optional<double> exact_quotient(double a, double b) {
  if (a == 0 && b != 0) {
    return 0;
  }
  const double quotient = a / b;
  const bool exact =
      b != 0 && quotient != 0 && is_safe(quotient) && is_safe(a) && std::fma(quotient, b, -a) == 0;
  return exact ? std::optional(quotient) : std::nullopt;
}

bool is_count(double a) {
  return semantics::is_whole(a) && semantics::is_dimension_sized(a);
}

std::optional<double> integer_division(ExprKind kind, double a, double b) {
  if (!is_count(a) || !is_count(b) || b == 0) {
    return std::nullopt;
  }
  switch (kind) {
    case kFloorDiv:
      return semantics::floor_div(a, b);
    case kCeilDiv:
      return semantics::ceil_div(a, b);
    default: {
      const double remainder = semantics::mod(a, b);
      const bool exact = remainder == std::fma(-b, std::floor(a / b), a);
      return exact ? std::optional(remainder) : std::nullopt;
    }
  }
}

std::optional<double> exact_scale(double x, double n) {
  const bool whole = semantics::is_whole(n) && std::abs(n) <= semantics::kScaleLimit;
  const double result = semantics::scale2(x, n);
  const bool exact = whole && is_safe(result) && (result != 0 || x == 0);
  return exact ? std::optional(result) : std::nullopt;
}

std::optional<double> fold_unary(ExprKind kind, double a) {
  if (!std::isfinite(a)) {
    return std::nullopt;
  }
  if (kind == kFloor) {
    return std::floor(a);
  }
  return a >= 0x1p-1022 ? std::optional(semantics::exponent2(a)) : std::nullopt;
}

std::optional<double> fold_binary(ExprKind kind, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) {
    return std::nullopt;
  }
  switch (kind) {
    case kAdd:
      return exact_sum(a, b);
    case kSub:
      return exact_sum(a, -b);
    case kMul:
      return exact_product(a, b);
    case kDiv:
      return exact_quotient(a, b);
    case kFloorDiv:
    case kCeilDiv:
    case kMod:
      return integer_division(kind, a, b);
    case kMin:
      return semantics::min(a, b);
    case kMax:
      return semantics::max(a, b);
    case kLess:
      return semantics::less(a, b);
    default:
      return exact_scale(a, b);
  }
}

std::optional<double> fold(ExprKind kind, std::span<const Expr> operands) {
  for (const Expr operand : operands) {
    if (!operand.is_constant()) {
      return std::nullopt;
    }
  }
  return operands.size() == 1 ? fold_unary(kind, operands[0].constant())
                              : fold_binary(kind, operands[0].constant(), operands[1].constant());
}

bool is(Expr e, double value) {
  return e.is_constant() && e.constant() == value;
}
bool is_one(Expr e) {
  return is(e, 1) && e.dimension() == kNumber;
}

/// Whether every value of `e` is a whole number.
bool is_whole(Expr e) {
  switch (e->kind) {
    case kFloor:
    case kFloorDiv:
    case kCeilDiv:
    case kLess:
    case kExponent2:
      return true;
    case kConstant:
      return semantics::is_whole(e.constant());
    default:
      return false;
  }
}

/// `e` times one of `unit`, which multiplies no number: the unit joins a constant factor if there
/// is one.
Expr with_unit(ExprPool& pool, Expr e, const Dimension& unit) {
  const bool is_product = e->kind == kMul || e->kind == kDiv;
  if (!is_product || !e->operands[0].is_constant()) {
    return {};
  }
  const Expr factor = e->operands[0];
  const Expr scaled = pool.constant(factor.constant(), factor.dimension() + unit);
  return pool.make(e->kind, {scaled, e->operands[1]});
}

Expr simplify_product(ExprPool& pool, Expr a, Expr b) {
  if (is(a, 0)) {
    return pool.constant(0, a.dimension() + b.dimension());
  }
  if (is_one(a)) {
    return b;
  }
  return is(a, 1) ? with_unit(pool, b, a.dimension()) : Expr();
}

Expr simplify_quotient(ExprPool& pool, Expr a, Expr b) {
  if (is_one(b)) {
    return a;
  }
  return is(b, 1) ? pool.make(kMul, {pool.unit(kNumber - b.dimension()), a}) : Expr();
}

Expr simplify_integer_division(ExprPool& pool, ExprKind kind, Expr a, Expr b) {
  if (!is_one(b)) {
    return {};
  }
  if (kind == kMod) {
    return is_whole(a) ? pool.constant(0, a.dimension()) : Expr();
  }
  if (is_whole(a)) {
    return a;
  }
  return kind == kFloorDiv ? floor(a) : Expr();
}

Expr simplify_same(ExprPool& pool, ExprKind kind, Expr a) {
  switch (kind) {
    case kMin:
    case kMax:
      return a;
    case kSub:
      return pool.constant(0, a.dimension());
    case kLess:
      return pool.constant(0);
    default:
      return {};
  }
}

Expr simplify_binary(ExprPool& pool, ExprKind kind, Expr a, Expr b) {
  switch (kind) {
    case kAdd:
    case kSub:
    case kScale2:
      return is(b, 0) ? a : Expr();
    case kMul:
      return simplify_product(pool, a, b);
    case kDiv:
      return simplify_quotient(pool, a, b);
    case kFloorDiv:
    case kCeilDiv:
    case kMod:
      return simplify_integer_division(pool, kind, a, b);
    default:
      return {};
  }
}

Expr simplify_select(Expr condition, Expr x, Expr y) {
  if (x == y) {
    return x;
  }
  if (!condition.is_constant()) {
    return {};
  }
  return condition.constant() != 0 ? x : y;
}

}  // namespace

Expr simplify(ExprPool& pool, ExprKind kind, std::span<const Expr> operands) {
  if (kind == kSelect) {
    return simplify_select(operands[0], operands[1], operands[2]);
  }
  if (const auto folded = fold(kind, operands)) {
    return pool.constant(*folded, dimension_of(kind, operands));
  }
  if (operands.size() == 1) {
    return kind == kFloor && is_whole(operands[0]) ? operands[0] : Expr();
  }
  if (operands[0] == operands[1]) {
    if (const Expr simpler = simplify_same(pool, kind, operands[0])) {
      return simpler;
    }
  }
  return simplify_binary(pool, kind, operands[0], operands[1]);
}

}  // namespace mansard::ir
