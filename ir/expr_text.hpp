#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ir/expr.hpp"
#include "ir/expr_eval.hpp"
#include "support/result.hpp"

namespace mansard::ir {

/// The expression as a person writes it, with as few parentheses as precedence allows: "2 * batch *
/// (context + 1)". `parse_expr(print(e), e.pool())` is `e` again, for expressions over symbols,
/// numbers and named functions of the pool. Constants with a dimension print with their unit in
/// brackets: "35 [us]"; symbols with a dimension print bare. Reductions print as min_over,
/// max_over, sum_over(table, key, arguments...) and at_min_over(table, key, payload, arguments...).
/// What is shared prints wherever it is used; an expression of more than 300,000 nodes in all is
/// cut short by "...".
[[nodiscard]] std::string print(Expr expression);

/// As `print`, with the value of each symbol put in: "2 * 16 * 4096".
[[nodiscard]] std::string print_with_values(Expr expression, const Bindings& bindings);

/// The beginning of `print`, for a message: at most `longest` bytes, "..." among them where it is
/// cut.
[[nodiscard]] std::string excerpt(Expr expression, std::size_t longest = 60);

/// Reads what `print` writes: + - * / parentheses, numbers, symbols (letters, digits, `_` and `.`),
/// and calls of floor_div, ceil_div, mod, min, max, floor, less, select, scale2, exponent2, exp2,
/// log2, pow, the reductions above and functions of the pool. `//` is floor_div. Symbols not yet in
/// the pool become plain numbers (no dimension). Errors (syntax, an unknown function or unit with
/// did-you-mean, unlike dimensions, nesting deeper than 200) are located within `location`, which
/// covers `text`.
[[nodiscard]] Result<Expr> parse_expr(std::string_view text, ExprPool& pool,
                                      const Location& location = {});

}  // namespace mansard::ir
