#pragma once

#include "ir/expr.hpp"

/// Whole numbers over symbols in one form, sums of products in a fixed order, so that equal ones
/// are one expression however they were computed: (past + seq) - past is seq, and batch * seq * 768
/// / (seq * 64) is 12 * batch.
namespace mansard::ir {

/// The expression in that form. What is no sum of products (a quotient, a minimum) is taken whole.
[[nodiscard]] Expr canonical(Expr expression);

[[nodiscard]] Expr sum(Expr a, Expr b);
[[nodiscard]] Expr difference(Expr a, Expr b);
[[nodiscard]] Expr product(Expr a, Expr b);
/// a / b: exact where b divides every term of a, else rounded down. 1 where b is 0, as of a tensor
/// without elements.
[[nodiscard]] Expr quotient(Expr a, Expr b);

}  // namespace mansard::ir
