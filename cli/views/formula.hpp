#pragma once

#include <string>

#include "ir/expr.hpp"
#include "ir/expr_eval.hpp"

namespace mansard::cli {

/// An expression as `ir::print` has it, without the unit that gives a count its dimension: "2 * b *
/// m * n * k".
[[nodiscard]] std::string formula_text(ir::Expr expression);
/// The same with the values of its symbols put in.
[[nodiscard]] std::string formula_with_values(ir::Expr expression, const ir::Bindings& bindings);

}  // namespace mansard::cli
