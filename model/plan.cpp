#include "model/plan.hpp"

#include <fmt/format.h>

namespace mansard::model {
namespace {

/// The dimension `batch` of a whole model becomes one microbatch.
void cut_batch(ir::Graph& graph, std::int64_t parts) {
  const ir::Expr batch = graph.pool().symbol("batch");
  const ir::Expr part = ir::ceil_div(batch, static_cast<double>(parts));
  const auto cut = [&](ir::Expr& expression) {
    expression = ir::substitute(expression, graph.pool(), [&](const ir::ExprNode& node) {
      return node.symbol == "batch" ? part : ir::Expr();
    });
  };
  for (ir::Tensor& tensor : graph.tensors()) {
    for (ir::Expr& extent : tensor.shape) {
      cut(extent);
    }
  }
  for (ir::Op& op : graph.ops()) {
    for (auto& [name, extent] : op.dims) {
      cut(extent);
    }
  }
}

void add_transfer(ir::Graph& graph) {
  ir::ExprPool& pool = graph.pool();
  const ir::Expr tokens = pool.symbol("batch") * pool.symbol("q_len");
  const ir::BlockId block = graph.add_block("pipeline", 1);
  const ir::Expr hidden = pool.constant(static_cast<double>(graph.facts.hidden));
  const ir::TensorId message = graph.add_tensor({.name = "pipeline.message",
                                                 .role = ir::Role::kActivation,
                                                 .dtype = graph.facts.activations,
                                                 .shape = {tokens, hidden},
                                                 .block = block});
  graph.add_op({.name = "pipeline.send",
                .def = ir::find_op("send_recv"),
                .block = block,
                .dims = {{"n", tokens * hidden}, {"p", pool.constant(2)}},
                .operands = {message}});
}

}  // namespace

Result<ir::Graph> pipeline_stage(ir::Graph graph, std::int64_t pp, std::int64_t microbatches) {
  if (pp == 1) {
    return graph;
  }
  std::int64_t layers = 0;
  for (const ir::Block& block : graph.blocks()) {
    layers += block.count > 1 ? block.count : 0;
  }
  if (layers < pp) {
    return failure("pipeline-stages",
                   fmt::format("{} layers cannot be split over {} pipeline stages", layers, pp));
  }
  for (ir::Block& block : graph.blocks()) {
    block.count = block.count > 1 ? (block.count + pp - 1) / pp : block.count;
  }
  add_transfer(graph);
  cut_batch(graph, microbatches);
  graph.facts.notes.push_back(fmt::format(
      "the pipeline's slowest stage is shown: 1/{} of the layers, with embedding and head", pp));
  return graph;
}

Result<ir::Graph> prepare(ir::Graph graph, const Plan& plan) {
  return ir::set_formats(std::move(graph), plan.formats)
      .and_then([&](ir::Graph g) { return ir::set_kv_policy(std::move(g), plan.kv); })
      .and_then([&](ir::Graph g) { return ir::route(std::move(g), plan.routing); })
      .and_then([&](ir::Graph g) { return ir::speculate(std::move(g), plan.speculation); })
      .and_then([&](ir::Graph g) { return ir::shard(std::move(g), plan.parallelism); })
      .and_then([&](ir::Graph g) { return ir::set_attention(std::move(g), plan.attention); })
      .and_then([&](ir::Graph g) { return pipeline_stage(std::move(g), plan.pp, plan.repeats()); });
}

}  // namespace mansard::model
