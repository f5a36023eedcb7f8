#include "frontend/hf/build/builder.hpp"

namespace mansard::frontend::hf {

using ir::Expr;
using ir::Split;
using ir::TensorId;

namespace {

/// Width of the per-layer embedding, and of all layers' together.
std::int64_t width_of(const Architecture& a) {
  return a.groups.front().layer.layer_input;
}

std::int64_t all_layers(const Architecture& a) {
  std::int64_t layers = 0;
  for (const LayerGroup& group : a.groups) {
    layers += group.count;
  }
  return layers * width_of(a);
}

void add(Builder& b, const std::string& name, TensorId x, TensorId y, Expr elements) {
  b.op({.kind = "elementwise",
        .name = name,
        .dims = {{"n", elements}, {"i", 2 * elements}, {"a", b.number(1)}},
        .operands = {{"x", x}, {"o", x}, {"y", y}},
        .attributes = {{"function", "add"}}});
}

}  // namespace

void build_layer_inputs(Builder& b) {
  const Architecture& a = b.architecture();
  const std::int64_t all = all_layers(a);
  const TensorId rows = b.activation("layer_inputs.rows", {b.tokens(), b.number(all)});
  b.op(
      {.kind = "embedding",
       .name = "layer_inputs.embedding",
       .dims = {{"t", b.tokens()}, {"c", b.number(all)}, {"n", b.number(a.layer_input_vocabulary)}},
       .operands = {{"table", b.weight("layer_inputs.table", {a.layer_input_vocabulary, all})},
                    {"o", rows}},
       .split = Split::kVocabulary,
       .attributes = {{"index", "token"}}});
  const TensorId projected = b.matmul({.name = "layer_inputs.project",
                                       .input = b.stream(),
                                       .rows = b.tokens(),
                                       .in = a.hidden,
                                       .out = all,
                                       .role = WeightRole::kHead,
                                       .split = Split::kReplicated});
  const std::int64_t width = width_of(a);
  const TensorId normal = b.norm({.name = "layer_inputs.norm",
                                  .input = projected,
                                  .rows = b.tokens() * b.number(all / width),
                                  .columns = width,
                                  .gains = width});
  add(b, "layer_inputs.add", normal, rows, b.tokens() * b.number(all));
  b.layer_inputs = normal;
}

void build_layer_input(Builder& b) {
  const std::int64_t width = b.layer().layer_input;
  const Expr elements = b.tokens() * b.number(b.hidden());
  add(b, "layer_input.add", b.residual(), b.stream(), elements);
  const TensorId gate = b.matmul({.name = "layer_input.gate",
                                  .input = b.residual(),
                                  .rows = b.tokens(),
                                  .in = b.hidden(),
                                  .out = width,
                                  .role = WeightRole::kDense,
                                  .split = Split::kReplicated});
  const TensorId chosen = b.elementwise({.name = "layer_input.activation",
                                         .inputs = {gate, b.layer_inputs},
                                         .shape = {b.tokens(), b.number(width)},
                                         .read = 2 * b.tokens() * b.number(width),
                                         .arithmetic = 9,
                                         .special = 1,
                                         .function = "gelu_mul"});
  const TensorId projected = b.matmul({.name = "layer_input.project",
                                       .input = chosen,
                                       .rows = b.tokens(),
                                       .in = width,
                                       .out = b.hidden(),
                                       .role = WeightRole::kDense,
                                       .split = Split::kReplicated});
  b.norm_into({.name = "layer_input.norm",
               .input = projected,
               .rows = b.tokens(),
               .columns = b.hidden(),
               .gains = b.hidden()},
              b.stream());
}

}  // namespace mansard::frontend::hf
