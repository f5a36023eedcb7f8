#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

/// What stands beside attention: biases by distance, rotations of several tensors, padding.
namespace mansard::frontend::onnx {
namespace {

/// A row of [buckets, heads] for each pair: 1 x heads x queries x keys.
void relative_bias(Node& node) {
  if (!needs_inputs(node, 3) || node.rank(0) != 2) {
    return;
  }
  const Shape shape{node.number(1), node.shape(0)[1],
                    number_or_unknown(node, 1, ".queries", "queries of a relative position bias"),
                    number_or_unknown(node, 2, ".keys", "keys of a relative position bias")};
  const Expr count = elements(node.pool(), shape);
  node.emit_many("elementwise", {node.id(0)}, node.set(0, node.in(0).type, shape),
                 {{"n", count}, {"a", node.number(4)}, {"s", node.number(1)}},
                 {{"function", "relative_position_bias"}});
}

/// Two gates of each query from a small matmul scale the biases.
void gated_bias(Node& node) {
  if (!needs_inputs(node, 5) || node.rank(2) != 4 || node.rank(3) != 2 || node.rank(0) == 0) {
    return;
  }
  const Expr heads =
      node.number(static_cast<double>(std::max<std::int64_t>(node.integer("num_heads", 1), 1)));
  const Expr length = node.shape(2)[2];
  const Expr batch = node.rank(0) == 3 ? node.shape(0)[0]
                     : node.has(6) && node.rank(6) == 2
                         ? node.shape(6)[0]
                         : node.unknown(".batch", "sequences of packed tokens");
  const Expr rows = quotient(node.elements(0), node.shape(3)[0]);
  const int type = node.in(0).type;
  const ValueId gates = node.between(type, Shape{rows, node.shape(3)[1]});
  node.emit({.kind = "matmul",
             .dims = {{"b", node.number(1)},
                      {"m", rows},
                      {"n", node.shape(3)[1]},
                      {"k", node.shape(3)[0]},
                      {"bias", node.number(1)}},
             .operands = {{"a", node.id(0)},
                          {"w", node.id(3), true},
                          {"c", gates},
                          {"bias", node.id(4), true}},
             .suffix = ".gates"});
  const Shape shape{batch, heads, length, node.shape(2)[3]};
  node.emit_many("elementwise", {node.id(2), gates}, node.set(0, type, shape),
                 {{"n", elements(node.pool(), shape)}, {"a", node.number(1)}},
                 {{"function", "gated_bias"}});
}

/// Angles, queries and keys with their halves swapped: x cos + swapped sin.
void gemma_rotary(Node& node) {
  if (!needs_inputs(node, 5)) {
    return;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t x = 1 + 2 * i;
    const ValueId output = node.set(i, node.in(x).type, node.shape(x));
    node.emit_many("elementwise", {node.id(x), node.id(x + 1), node.id(0)}, output,
                   {{"n", node.elements(x)}, {"a", node.number(3)}, {"s", node.number(2)}},
                   {{"function", "rotary"}}, i == 0 ? ".query" : ".key");
  }
}

/// How many tokens are no padding is known when it runs.
void remove_padding(Node& node) {
  if (!needs_inputs(node, 2) || node.rank(0) != 3) {
    return;
  }
  const Shape& x = node.shape(0);
  const Expr tokens =
      node.unknown(".tokens", fmt::format("tokens that RemovePadding '{}' keeps", node.name()));
  const Expr kept = product(tokens, x[2]);
  node.emit_many("move", {node.id(0)}, node.set(0, node.in(0).type, Shape{tokens, x[2]}),
                 {{"n", kept}, {"i", kept}}, {{"function", "RemovePadding"}});
  node.set(1, pb::TensorProto::INT32, Shape{x[0], x[1]});
  node.set(2, pb::TensorProto::INT32, Shape{sum(x[0], node.number(1))});
  node.set(3, pb::TensorProto::INT32, Shape{node.number(1)});
}

void restore_padding(Node& node) {
  if (needs_inputs(node, 2) && node.rank(0) == 2 && node.rank(1) == 2) {
    const Shape shape{node.shape(1)[0], node.shape(1)[1], node.shape(0)[1]};
    node.emit_move({node.id(0)}, node.set(0, node.in(0).type, shape));
  }
}

constexpr std::array kRules = {
    RuleEntry{"com.microsoft.GatedRelativePositionBias", gated_bias},
    RuleEntry{"com.microsoft.GemmaRotaryEmbedding", gemma_rotary},
    RuleEntry{"com.microsoft.RelativePositionBias", relative_bias},
    RuleEntry{"com.microsoft.RemovePadding", remove_padding},
    RuleEntry{"com.microsoft.RestorePadding", restore_padding},
};

}  // namespace

std::span<const RuleEntry> position_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
