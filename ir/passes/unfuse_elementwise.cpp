#include <utility>

#include "ir/passes/elementwise.hpp"
#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"

namespace mansard::ir {
namespace {

/// residual += x; norm(residual).
void split_residual(const Graph& graph, const Op& norm, std::vector<Op>& ops) {
  const TensorId residual = tensor_of(norm, "residual");
  const Expr elements = dim_of(graph, norm, "r") * dim_of(graph, norm, "c");
  const OpDef* def = find_op("elementwise");
  ops.push_back({.name = norm.name + std::string(kResidualSuffix),
                 .def = def,
                 .block = norm.block,
                 .dims = {{"n", elements},
                          {"i", 2 * elements},
                          {"a", graph.pool().constant(1)},
                          {"s", graph.pool().constant(0)}},
                 .operands = operands_by_name(
                     *def, {{"x", operand_of(norm, "x")}, {"o", residual}, {"y", residual}}),
                 .attributes = {{"function", "add"}},
                 .split = norm.split});
  Op rest = norm;
  rest.dims.insert_or_assign("residual", graph.pool().constant(0));
  set_operand(rest, "residual", std::nullopt);
  set_operand(rest, "x", residual);
  ops.push_back(std::move(rest));
}

/// f(gate) * up, where x holds gate and up side by side, or x and y hold one each.
void split_gate(Graph& graph, const Op& op, std::vector<Op>& ops) {
  const Expr elements = dim_of(graph, op, "n");
  const TensorId output = tensor_of(op, "o");
  Tensor activated = graph.tensor(output);
  activated.name = op.name + std::string(kActivationSuffix) + ".out";
  activated.block = op.block;
  const TensorId middle = graph.add_tensor(std::move(activated));

  Op activation = op;
  activation.name += kActivationSuffix;
  activation.dims.insert_or_assign("i", elements);
  activation.dims.insert_or_assign("a", dim_of(graph, op, "a") - 1);
  set_operand(activation, "y", std::nullopt);
  set_operand(activation, "o", middle);
  ops.push_back(std::move(activation));

  Op gate = op;
  gate.name += kGateSuffix;
  gate.dims.insert_or_assign("a", graph.pool().constant(1));
  gate.dims.insert_or_assign("s", graph.pool().constant(0));
  gate.attributes.insert_or_assign("function", "mul");
  const std::optional<TensorId> up = operand_of(op, "y");
  set_operand(gate, "x", middle);
  set_operand(gate, "y", up ? up : operand_of(op, "x"));
  ops.push_back(std::move(gate));
}

bool has_residual(const Op& op) {
  return is_kind(op, "norm") && operand_of(op, "residual").has_value();
}

/// A gated activation: two elements read per element written, a function of more than one step.
bool is_gated(const Graph& graph, const Op& op) {
  if (!is_kind(op, "elementwise") || is_sum(op)) {
    return false;
  }
  const Expr arithmetic = dim_of(graph, op, "a");
  return dim_of(graph, op, "i") == 2 * dim_of(graph, op, "n") && arithmetic.is_constant() &&
         arithmetic.constant() > 1;
}

}  // namespace

Graph unfuse_elementwise(Graph graph) {
  std::vector<Op> ops;
  for (const Op& op : graph.ops()) {
    if (has_residual(op)) {
      split_residual(graph, op, ops);
    } else if (is_gated(graph, op)) {
      split_gate(graph, op, ops);
    } else {
      ops.push_back(op);
    }
  }
  graph.ops() = std::move(ops);
  return graph;
}

}  // namespace mansard::ir
