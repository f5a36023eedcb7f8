#include "ir/passes/shard_heads.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "ir/passes/rewrite.hpp"

namespace mansard::ir {
namespace {

double width(const Graph& graph, const Op& op, std::string_view dim) {
  return coefficient(dim_of(graph, op, dim));
}

std::set<TensorId> inputs_of(const Op& op) {
  std::set<TensorId> inputs;
  for (const OperandUse& use : uses_of(op)) {
    if (use.reads()) {
      inputs.insert(use.tensor);
    }
  }
  return inputs;
}

}  // namespace

ReplicatedHeads::ReplicatedHeads(const Graph& graph, double ranks)
    : graph_(graph), ranks_(ranks), attention_of_(graph.ops().size()) {
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    if (is_kind(graph.ops()[i], "attention") && replicated(graph.ops()[i])) {
      mark_feeders(graph.ops()[i], i);
    }
  }
}

bool ReplicatedHeads::replicated(const Op& attention) const {
  const double groups = width(graph_, attention, "g");
  return groups < ranks_ && std::fmod(ranks_, groups) == 0;
}

/// Walks back from the attention's inputs, and from what is written to its cache, to the matmuls
/// that made them.
void ReplicatedHeads::mark_feeders(const Op& attention, std::size_t position) {
  std::set<TensorId> wanted = inputs_of(attention);
  for (std::size_t i = position; i > 0; --i) {
    const Op& op = graph_.ops()[i - 1];
    if (op.block != attention.block) {
      return;
    }
    if (std::ranges::any_of(wanted, [&](TensorId tensor) { return writes(op, tensor); })) {
      attention_of_[i - 1] = &attention;
      if (!is_kind(op, "matmul")) {
        wanted.merge(inputs_of(op));
      }
    }
  }
}

std::optional<double> ReplicatedHeads::width_on_rank(OpId op, double dim) const {
  const Op* attention = attention_of_[index(op)];
  if (attention == nullptr) {
    return std::nullopt;
  }
  const double h = width(graph_, *attention, "h");
  const double g = width(graph_, *attention, "g");
  const double d = width(graph_, *attention, "d");
  const double v = width(graph_, *attention, "v");
  // Queries alone, queries with a gate per head or per element; heads; keys, values or both.
  const std::array<double, 6> per_query_head = {0, d, 1, d + 1, d + v, v};
  const std::array<double, 5> per_kv_head = {0, d + v, d, v, 1};
  for (const double of_query : per_query_head) {
    for (const double of_kv : per_kv_head) {
      if (of_query * h + of_kv * g == dim) {
        return of_query * h / ranks_ + of_kv;
      }
    }
  }
  return std::nullopt;
}

}  // namespace mansard::ir
