#pragma once

#include "ir/expr.hpp"

/// Sums as a person would write them: constants together, signs that cancel gone.
namespace mansard::ir {

[[nodiscard]] Expr plus(Expr a, Expr b);
[[nodiscard]] Expr minus(Expr a, Expr b);
[[nodiscard]] Expr negative(Expr e);
/// floor(a / b) or, if `up`, ceil(a / b) of integers; multiples of a constant b are taken out.
[[nodiscard]] Expr quotient(Expr a, Expr b, bool up);

}  // namespace mansard::ir
