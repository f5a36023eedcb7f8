#pragma once

#include <vector>

#include "ir/expr.hpp"

namespace mansard::ir {

/// d expression / d symbol of the smooth parts, as an expression of the same pool. At a kink of
/// min, max, select or a table's choice it is the derivative of the branch that is taken there
/// (one-sided); `kinks_of` lists the expressions whose sign changes at such kinks. floor, ceil-div,
/// floor-div, mod and less are constant between their steps: derivative 0. exp2, log2 and pow have
/// their textbook derivatives (pow's by its exponent is 0 at a base of 0).
[[nodiscard]] Expr derivative(Expr expression, Expr symbol);

/// The differences a - b of every min, max, less and select condition that depends on `symbol`,
/// once each: where one is zero, `expression` may have a kink. Those inside functions are given in
/// terms of the call's arguments; those of a table's rows are not listed (see `choices_of`).
[[nodiscard]] std::vector<Expr> kinks_of(Expr expression, Expr symbol);

/// What `expression` decides, where that depends on `symbol`, once each: for every min, max, less
/// and select a number that is 0 or 1, for every table reduced by min, max or at_min the row that
/// is chosen. Between two points at which all choices are the same, no branch was taken
/// differently.
[[nodiscard]] std::vector<Expr> choices_of(Expr expression, Expr symbol);

}  // namespace mansard::ir
