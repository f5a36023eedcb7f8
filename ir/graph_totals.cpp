#include "ir/graph_totals.hpp"

namespace mansard::ir {
namespace {

void add(Expr& sum, double copies, Expr term) {
  if (term) {
    sum = sum + copies * term;
  }
}

void add_operands(GraphTotals& sums, const Graph& graph, const Op& op, double copies) {
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Expr bytes = operand_bytes(graph, op, i);
    add(sums.bytes, copies, bytes);
    if (op.operands[i] && graph.tensor(*op.operands[i]).role == Role::kWeight) {
      add(sums.weight_bytes, copies, bytes);
    }
  }
}

}  // namespace

Expr operand_bytes(const Graph& graph, const Op& op, std::size_t operand) {
  if (operand >= op.operands.size() || !op.operands[operand]) {
    return graph.pool().constant(0, kByte);
  }
  const OperandDef& def = op.def->operands[operand];
  const double times = def.access == Access::kReadWrite ? 2 : 1;
  const Expr elements = graph.instantiate(op, def.touched);
  return times * bytes_of(*graph.tensor(*op.operands[operand]).dtype, elements);
}

GraphTotals totals(const Graph& graph) {
  ExprPool& pool = graph.pool();
  GraphTotals sums{.flops = pool.constant(0, kFlop),
                   .vector_flops = pool.constant(0, kFlop),
                   .special_ops = pool.constant(0),
                   .bytes = pool.constant(0, kByte),
                   .weight_bytes = pool.constant(0, kByte),
                   .link_elements = pool.constant(0)};
  for (const Op& op : graph.ops()) {
    const auto copies = static_cast<double>(graph.block(op.block).count);
    add(sums.flops, copies, graph.instantiate(op, op.def->flops));
    add(sums.vector_flops, copies, graph.instantiate(op, op.def->vector_flops));
    add(sums.special_ops, copies, graph.instantiate(op, op.def->special_ops));
    add(sums.link_elements, copies, graph.instantiate(op, op.def->link_elements));
    add_operands(sums, graph, op, copies);
  }
  return sums;
}

}  // namespace mansard::ir
