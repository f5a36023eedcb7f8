#include "cli/views/formula.hpp"

#include "ir/expr_text.hpp"

namespace mansard::cli {
namespace {

bool is_unit(ir::Expr expression) {
  return expression.is_constant() && expression.constant() == 1 &&
         expression.dimension() != kNumber;
}

ir::Expr without_unit(ir::Expr expression) {
  if (expression->kind != ir::ExprKind::kMul) {
    return expression;
  }
  const ir::Expr a = expression->operands[0];
  const ir::Expr b = expression->operands[1];
  if (is_unit(a)) {
    return b;
  }
  return is_unit(b) ? a : expression;
}

}  // namespace

std::string formula_text(ir::Expr expression) {
  return ir::print(without_unit(expression));
}

std::string formula_with_values(ir::Expr expression, const ir::Bindings& bindings) {
  return ir::print_with_values(without_unit(expression), bindings);
}

}  // namespace mansard::cli
