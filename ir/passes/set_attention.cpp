#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"

namespace mansard::ir {
namespace {

/// Writes one attention op as QK^T, softmax and PV, in which the scores of a sequence and head are
/// a matrix of q x t in memory. The heads that share a KV head are rows of one matmul.
class Unfused {
 public:
  Unfused(Graph& graph, const Op& op)
      : graph_(graph),
        op_(op),
        sequences_(dim("b")),
        queries_(dim("q")),
        keys_(dim("t")),
        heads_(dim("h")),
        groups_(dim("g")) {}

  void append_to(std::vector<Op>& ops) {
    const TensorId scores = matrix(".scores");
    const TensorId weights = matrix(".weights");
    ops.push_back(
        matmul(".scores", {{"n", keys_}, {"k", dim("d")}}, tensor_of(op_, "q"), "k", scores));
    ops.push_back(softmax(scores, weights));
    ops.push_back(
        matmul(".values", {{"n", dim("v")}, {"k", keys_}}, weights, "v", tensor_of(op_, "o")));
  }

 private:
  using Dims = std::map<std::string, Expr, std::less<>>;

  [[nodiscard]] Expr dim(std::string_view name) const { return dim_of(graph_, op_, name); }

  TensorId matrix(const std::string& suffix) {
    return graph_.add_tensor({.name = op_.name + suffix,
                              .role = Role::kActivation,
                              .dtype = graph_.tensor(tensor_of(op_, "q")).dtype,
                              .shape = {sequences_, heads_, queries_, keys_},
                              .block = op_.block});
  }

  Op matmul(const std::string& suffix, Dims dims, TensorId left, std::string_view cache,
            TensorId output) {
    dims.emplace("b", sequences_ * groups_);
    dims.emplace("m", resized(heads_, coefficient(groups_), 1) * queries_);
    const OpDef* def = find_op("matmul");
    return {.name = op_.name + suffix,
            .def = def,
            .block = op_.block,
            .dims = std::move(dims),
            .operands =
                operands_by_name(*def, {{"a", left}, {"w", operand_of(op_, cache)}, {"c", output}}),
            .split = op_.split};
  }

  Op softmax(TensorId scores, TensorId weights) {
    const OpDef* def = find_op("softmax");
    return {
        .name = op_.name + ".softmax",
        .def = def,
        .block = op_.block,
        .dims = {{"r", sequences_ * heads_ * queries_}, {"c", keys_}, {"h", heads_ * dim("sink")}},
        .operands = operands_by_name(
            *def, {{"x", scores}, {"o", weights}, {"sink", operand_of(op_, "sink")}}),
        .split = op_.split};
  }

  Graph& graph_;
  const Op& op_;
  Expr sequences_;
  Expr queries_;
  Expr keys_;
  Expr heads_;
  Expr groups_;
};

/// Attention without values only scores (an indexer): its scores are its output already.
bool can_unfuse(const Graph& graph, const Op& op) {
  return is_kind(op, "attention") && coefficient(dim_of(graph, op, "v")) > 0;
}

Diagnostics check(const Graph& graph) {
  Diagnostics problems;
  for (const Op& op : graph.ops()) {
    if (can_unfuse(graph, op)) {
      const double heads = coefficient(dim_of(graph, op, "h"));
      const double groups = coefficient(dim_of(graph, op, "g"));
      if (std::fmod(heads, groups) != 0) {
        problems.push_back(
            {.id = "attention-heads",
             .message = fmt::format("{} query heads of '{}' do not share {} KV heads "
                                    "evenly",
                                    heads, op.name, groups),
             .location = {},
             .label = {}});
      }
    }
  }
  return problems;
}

}  // namespace

Result<Graph> set_attention(Graph graph, AttentionForm form) {
  if (form == AttentionForm::kFused) {
    return graph;
  }
  if (Diagnostics problems = check(graph); !problems.empty()) {
    return failure(std::move(problems));
  }
  std::vector<Op> ops;
  for (const Op& op : graph.ops()) {
    if (can_unfuse(graph, op)) {
      Unfused(graph, op).append_to(ops);
    } else {
      ops.push_back(op);
    }
  }
  if (ops.size() != graph.ops().size()) {
    note(graph,
         "unfused attention writes and reads its scores, and computes masked pairs too: "
         "in prefill more FLOP than fused");
  }
  graph.ops() = std::move(ops);
  return graph;
}

}  // namespace mansard::ir
