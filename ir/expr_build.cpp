#include "ir/expr.hpp"

namespace mansard::ir {

namespace {

using enum ExprKind;

Expr make(ExprKind kind, Expr a, Expr b) {
  return a.pool().make(kind, {a, b});
}

/// A bare number beside `e` in a product or quotient.
Expr number(Expr e, double value) {
  return e.pool().constant(value);
}
/// A bare number beside `e` in a sum or comparison.
Expr alike(Expr e, double value) {
  return e.pool().constant(value, e.dimension());
}

}  // namespace

Expr operator+(Expr a, Expr b) {
  return make(kAdd, a, b);
}
Expr operator-(Expr a, Expr b) {
  return make(kSub, a, b);
}
Expr operator*(Expr a, Expr b) {
  return make(kMul, a, b);
}
Expr operator/(Expr a, Expr b) {
  return make(kDiv, a, b);
}
Expr operator+(Expr a, double b) {
  return a + alike(a, b);
}
Expr operator-(Expr a, double b) {
  return a - alike(a, b);
}
Expr operator*(Expr a, double b) {
  return a * number(a, b);
}
Expr operator/(Expr a, double b) {
  return a / number(a, b);
}
Expr operator+(double a, Expr b) {
  return alike(b, a) + b;
}
Expr operator-(double a, Expr b) {
  return alike(b, a) - b;
}
Expr operator*(double a, Expr b) {
  return number(b, a) * b;
}
Expr operator/(double a, Expr b) {
  return number(b, a) / b;
}

Expr floor_div(Expr a, Expr b) {
  return make(kFloorDiv, a, b);
}
Expr floor_div(Expr a, double b) {
  return floor_div(a, number(a, b));
}
Expr ceil_div(Expr a, Expr b) {
  return make(kCeilDiv, a, b);
}
Expr ceil_div(Expr a, double b) {
  return ceil_div(a, number(a, b));
}
Expr mod(Expr a, Expr b) {
  return make(kMod, a, b);
}
Expr mod(Expr a, double b) {
  return mod(a, alike(a, b));
}
Expr min(Expr a, Expr b) {
  return make(kMin, a, b);
}
Expr min(Expr a, double b) {
  return min(a, alike(a, b));
}
Expr max(Expr a, Expr b) {
  return make(kMax, a, b);
}
Expr max(Expr a, double b) {
  return max(a, alike(a, b));
}
Expr less(Expr a, Expr b) {
  return make(kLess, a, b);
}
Expr less(Expr a, double b) {
  return less(a, alike(a, b));
}
Expr floor(Expr a) {
  return a.pool().make(kFloor, {a});
}
Expr select(Expr condition, Expr x, Expr y) {
  return x.pool().make(kSelect, {condition, x, y});
}
Expr scale2(Expr x, Expr n) {
  return make(kScale2, x, n);
}
Expr exponent2(Expr x) {
  return x.pool().make(kExponent2, {x});
}

}  // namespace mansard::ir
