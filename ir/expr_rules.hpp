#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/expr.hpp"

/// What `ExprPool::make` asks before it interns a node. Internal to `ir`.
namespace mansard::ir {

/// How many operands a kind takes; 0 for constants, symbols, calls and reductions, which `make`
/// does not build.
[[nodiscard]] std::size_t arity(ExprKind kind);

/// Whether swapping the operands leaves the node what it is.
[[nodiscard]] bool is_commutative(ExprKind kind);

/// Why these operands cannot be combined ("cannot add a time and a bandwidth"), if they cannot.
[[nodiscard]] std::optional<std::string> misuse(ExprKind kind, std::span<const Expr> operands);

/// The dimension of a node of that kind with operands that are no misuse.
[[nodiscard]] Dimension dimension_of(ExprKind kind, std::span<const Expr> operands);

/// A simpler expression that denotes the same, or an absent one if there is none. Looks at the
/// operands only, never deeper than their own operands, and costs constant time.
[[nodiscard]] Expr simplify(ExprPool& pool, ExprKind kind, std::span<const Expr> operands);

/// The name that text uses for a kind: "floor_div", "less"; "" for operators and leaves.
[[nodiscard]] std::string_view function_name(ExprKind kind);

/// Whether a function is one of exp2, log2 and pow, whose bodies approximate and so have no exact
/// count.
[[nodiscard]] bool is_math(const Function& function);

}  // namespace mansard::ir
