#include "frontend/hf/build.hpp"
#include "frontend/hf/build/builder.hpp"

namespace mansard::frontend::hf {

using ir::Split;
using ir::TensorId;

namespace {

std::int64_t embedding_width(const Architecture& a) {
  return a.embedding_width > 0 ? a.embedding_width : a.hidden;
}

/// Adds the learned positions of the tokens to the stream.
void build_positions(Builder& b) {
  const Architecture& a = b.architecture();
  if (a.positions == 0) {
    return;
  }
  const TensorId rows = b.activation("positions.out", {b.tokens(), b.number(a.hidden)});
  b.op({.kind = "embedding",
        .name = "positions",
        .dims = {{"t", b.tokens()}, {"c", b.number(a.hidden)}, {"n", b.number(a.positions)}},
        .operands = {{"table", b.weight("positions.weight", {a.positions, a.hidden})}, {"o", rows}},
        .attributes = {{"index", "position"}}});
  const ir::Expr elements = b.tokens() * b.number(a.hidden);
  b.op({.kind = "elementwise",
        .name = "positions.add",
        .dims = {{"n", elements}, {"i", 2 * elements}, {"a", b.number(1)}, {"s", b.number(0)}},
        .operands = {{"x", b.stream()}, {"o", b.stream()}, {"y", rows}},
        .attributes = {{"function", "add"}}});
}

/// Returns the table, which a tied head reads again.
TensorId build_embedding(Builder& b) {
  const Architecture& a = b.architecture();
  const std::int64_t width = embedding_width(a);
  const bool projected = width != a.hidden;
  const TensorId table = b.weight("embedding.weight", {a.vocabulary, width});
  const TensorId rows =
      projected ? b.activation("embedding.out", {b.tokens(), b.number(width)}) : b.stream();
  b.op({.kind = "embedding",
        .name = "embedding",
        .dims = {{"t", b.tokens()}, {"c", b.number(width)}, {"n", b.number(a.vocabulary)}},
        .operands = {{"table", table}, {"o", rows}},
        .split = Split::kVocabulary,
        .attributes = {{"index", "token"}}});
  if (projected) {
    b.matmul_into({.name = "embedding.project",
                   .input = rows,
                   .rows = b.tokens(),
                   .in = width,
                   .out = a.hidden,
                   .role = WeightRole::kHead,
                   .split = Split::kReplicated},
                  b.stream());
  }
  build_positions(b);
  if (a.embedding_norm) {
    b.norm_into({.name = "embedding.norm",
                 .input = b.stream(),
                 .rows = b.tokens(),
                 .columns = a.hidden,
                 .gains = a.hidden},
                b.stream());
  }
  return table;
}

bool adds_at_the_end(const Architecture& a) {
  const NormPlacement norms = a.groups.back().layer.norms;
  return norms == NormPlacement::kPre || norms == NormPlacement::kSandwich;
}

TensorId build_final_norm(Builder& b) {
  const Architecture& a = b.architecture();
  if (!a.final_norm) {
    return b.stream();
  }
  return b.norm({.name = "final_norm",
                 .input = b.stream(),
                 .rows = b.tokens(),
                 .columns = a.hidden,
                 .gains = a.hidden,
                 .residual = adds_at_the_end(a)});
}

/// Logits for the last token of each sequence, then the choice of a token.
void build_head(Builder& b, TensorId table) {
  const Architecture& a = b.architecture();
  TensorId input = build_final_norm(b);
  const std::int64_t width = embedding_width(a);
  if (width != a.hidden) {
    input = b.matmul({.name = "head.project",
                      .input = input,
                      .rows = b.batch(),
                      .in = a.hidden,
                      .out = width,
                      .role = WeightRole::kHead,
                      .split = Split::kReplicated});
  }
  const MatmulSpec head = {.name = "head",
                           .input = input,
                           .rows = b.batch(),
                           .in = width,
                           .out = a.vocabulary,
                           .role = WeightRole::kHead,
                           .split = Split::kVocabulary,
                           .bias = a.head_bias ? a.vocabulary : 0};
  const TensorId logits = a.tied ? b.matmul_with(head, table) : b.matmul(head);
  b.op({.kind = "sample",
        .name = "sample",
        .dims = {{"b", b.batch()}, {"n", b.number(a.vocabulary)}},
        .operands = {{"logits", logits}, {"tokens", b.activation("tokens", {b.batch()})}},
        .split = Split::kVocabulary});
}

void state_facts(ir::Graph& graph, const Architecture& a) {
  graph.facts.hidden = a.hidden;
  graph.facts.heads = a.heads;
  graph.facts.kv_heads = a.kv_heads;
  graph.facts.vocabulary = a.vocabulary;
  graph.facts.max_context = a.max_context;
  graph.facts.activations = a.activations;
  graph.facts.notes = a.notes;
  for (const LayerGroup& group : a.groups) {
    graph.facts.layers += group.count;
  }
}

}  // namespace

ir::Graph build_graph(const Architecture& architecture, Phase phase) {
  Builder b(architecture, phase);
  b.open_block("model", 1, false);
  b.make_stream();
  const TensorId table = build_embedding(b);
  if (architecture.layer_input_vocabulary > 0) {
    build_layer_inputs(b);
  }
  if (architecture.streams > 1) {
    build_streams(b);
  }
  for (const LayerGroup& group : architecture.groups) {
    b.open_block(group.name, group.count, architecture.groups.size() > 1);
    b.open_layer(group.layer);
    build_layer(b);
  }
  b.open_block("head", 1, false);
  if (architecture.streams > 1) {
    join_streams(b);
  }
  build_head(b, table);
  narrow_inputs(b.graph(), b.narrow_inputs());
  state_facts(b.graph(), architecture);
  return std::move(b.graph());
}

}  // namespace mansard::frontend::hf
