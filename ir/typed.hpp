#pragma once

#include <cassert>

#include "ir/expr.hpp"
#include "support/quantity.hpp"

namespace mansard::ir {

/// An expression whose dimension the compiler knows: `Typed<Seconds>`. Public interfaces of the
/// model use it, so that a bound in FLOP cannot be passed where a time is wanted.
template <typename Q>
class Typed;

template <Dimension D>
class Typed<Quantity<D>> {
 public:
  Typed() = default;
  explicit Typed(Expr expression) : expression_(expression) {
    assert(!expression || expression.dimension() == D);
  }
  [[nodiscard]] Expr expr() const { return expression_; }
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(expression_); }

  friend Typed operator+(Typed a, Typed b) { return Typed(a.expression_ + b.expression_); }
  friend Typed operator-(Typed a, Typed b) { return Typed(a.expression_ - b.expression_); }
  friend Typed operator*(double k, Typed a) { return Typed(k * a.expression_); }
  friend Typed max(Typed a, Typed b) { return Typed(ir::max(a.expression_, b.expression_)); }
  friend Typed min(Typed a, Typed b) { return Typed(ir::min(a.expression_, b.expression_)); }

 private:
  Expr expression_;
};

template <Dimension A, Dimension B>
Typed<Quantity<A + B>> operator*(Typed<Quantity<A>> a, Typed<Quantity<B>> b) {
  return Typed<Quantity<A + B>>(a.expr() * b.expr());
}
template <Dimension A, Dimension B>
Typed<Quantity<A - B>> operator/(Typed<Quantity<A>> a, Typed<Quantity<B>> b) {
  return Typed<Quantity<A - B>>(a.expr() / b.expr());
}

}  // namespace mansard::ir
