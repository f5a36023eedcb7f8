#include "ir/graph_totals.hpp"

#include <algorithm>

namespace mansard::ir {
namespace {

void add(Expr& sum, Expr copies, Expr term) {
  if (term) {
    sum = sum + copies * term;
  }
}

void add_operands(GraphTotals& sums, const Graph& graph, const Op& op, Expr copies) {
  for (const OperandUse& use : uses_of(op)) {
    const Expr bytes = operand_bytes(graph, op, use.position);
    add(sums.bytes, copies, bytes);
    if (graph.tensor(use.tensor).role == Role::kWeight) {
      add(sums.weight_bytes, copies, bytes);
    }
  }
}

}  // namespace

Expr operand_bytes(const Graph& graph, const Op& op, std::size_t operand) {
  const std::vector<OperandUse> uses = uses_of(op);
  const auto use = std::ranges::find(uses, operand, &OperandUse::position);
  if (use == uses.end()) {
    return graph.pool().constant(0, kByte);
  }
  const double times = use->reads() && use->writes() ? 2 : 1;
  const Expr elements = graph.instantiate(op, use->def->touched);
  return times * bytes_of(*graph.tensor(use->tensor).dtype, elements);
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
    const Expr copies = graph.repeats(op.block);
    add(sums.flops, copies, graph.instantiate(op, op.def->flops));
    add(sums.vector_flops, copies, graph.instantiate(op, op.def->vector_flops));
    add(sums.special_ops, copies, graph.instantiate(op, op.def->special_ops));
    add(sums.link_elements, copies, graph.instantiate(op, op.def->link_elements));
    add_operands(sums, graph, op, copies);
  }
  return sums;
}

}  // namespace mansard::ir
