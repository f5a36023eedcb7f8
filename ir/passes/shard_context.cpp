#include <utility>

#include "ir/passes/rewrite.hpp"
#include "ir/passes/shard_tensor.hpp"

namespace mansard::ir {
namespace {

bool is_attention(const Op& op) {
  return is_kind(op, "attention") || is_kind(op, "mla_attention");
}

/// An indexer only scores: each rank has the scores of its keys.
bool has_values(const Graph& graph, const Op& op) {
  return is_kind(op, "mla_attention") || coefficient(dim_of(graph, op, "v")) > 0;
}

void divide_dim(const Graph& graph, Op& op, std::string_view name, double parts) {
  op.dims.insert_or_assign(std::string(name), divided(dim_of(graph, op, name), parts));
}

/// Each rank has all queries and its share of the keys; partial outputs are summed.
Op reduce_output(const Graph& graph, const Op& op, double ranks) {
  const OpDef* def = find_op("all_reduce");
  const TensorId output = tensor_of(op, "o");
  return {
      .name = op.name + ".context_reduce",
      .def = def,
      .block = op.block,
      .dims = {{"n", graph.elements(graph.tensor(output))}, {"p", graph.pool().constant(ranks)}},
      .operands = operands_by_name(*def, {{"x", output}})};
}

}  // namespace

void split_context(Graph& graph, std::int64_t cp) {
  const auto ranks = static_cast<double>(cp);
  std::vector<Op> ops;
  for (Op op : graph.ops()) {
    if (is_kind(op, "kv_write")) {
      divide_dim(graph, op, "n", ranks);
    }
    if (is_attention(op)) {
      divide_dim(graph, op, "t", ranks);
      divide_dim(graph, op, "p", ranks);
    }
    ops.push_back(op);
    if (is_attention(op) && has_values(graph, op)) {
      ops.push_back(reduce_output(graph, op, ranks));
    }
  }
  graph.ops() = std::move(ops);
  for (Tensor& tensor : graph.tensors()) {
    for (Expr& extent : tensor.shape) {
      if (tensor.role == Role::kKvCache && depends_on(extent, "context")) {
        extent = divided(extent, ranks);
      }
    }
  }
  note(graph,
       "context parallelism: each rank attends with all queries to its share of the keys, and the "
       "partial outputs are reduced");
}

}  // namespace mansard::ir
