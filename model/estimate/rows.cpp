#include "model/estimate/rows.hpp"

#include "model/estimate/estimators.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

/// Elements that a kind without its own kernel touches: those it writes.
Expr written_elements(const OpContext& context) {
  Expr sum = context.pool().constant(0);
  for (std::size_t i = 0; i < context.op.operands.size(); ++i) {
    const ir::OperandDef& def = context.op.def->operands[i];
    if (context.op.operands[i] && def.access != ir::Access::kRead) {
      sum = sum + context.graph.instantiate(context.op, def.touched);
    }
  }
  return sum;
}

OpEstimate elementwise(const OpContext& context) {
  const std::string_view function = context.attribute("function");
  if (function == "row_sum") {
    return row_sum_kernel(context, context.dim("n"), context.dim("i") / context.dim("n"));
  }
  if (function == "col_sum") {
    return column_sum_kernel(context);
  }
  return function == "sum" ? total_sum_kernel(context) : stream_kernel(context, context.dim("n"));
}

}  // namespace

OpEstimate rows(const OpContext& context) {
  const std::string_view kind = context.op.def->name;
  if (kind == "norm") {
    return row_kernel(context, context.dim("r"), context.dim("c"));
  }
  if (kind == "moe_router") {
    return row_kernel(context, context.dim("t"), context.dim("e"));
  }
  if (kind == "sample") {
    return row_kernel(context, context.dim("b"), context.dim("n"));
  }
  if (kind == "softmax") {
    return softmax_kernel(context);
  }
  if (kind == "reduce") {
    return stream_kernel(context, context.dim("r") * context.dim("c"));
  }
  if (kind == "embedding") {
    return gather_kernel(context);
  }
  return kind == "elementwise" ? elementwise(context)
                               : stream_kernel(context, written_elements(context));
}

}  // namespace mansard::model::estimators
