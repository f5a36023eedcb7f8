#include "frontend/hf/build/builder.hpp"

namespace mansard::frontend::hf {

using ir::Expr;
using ir::Split;
using ir::TensorId;

namespace {

struct Widths {
  std::int64_t keys = 0;    ///< All key heads together.
  std::int64_t values = 0;  ///< All value heads together.
  explicit Widths(const LinearAttention& l)
      : keys(l.key_heads * l.key_dim), values(l.value_heads * l.value_dim) {}
};

TensorId project(Builder& b, const std::string& name, TensorId input, std::int64_t in,
                 std::int64_t out) {
  return b.matmul({.name = name,
                   .input = input,
                   .rows = b.tokens(),
                   .in = in,
                   .out = out,
                   .role = WeightRole::kMixer,
                   .split = Split::kColumn});
}

struct KernelSpec {
  TensorId qkv;
  TensorId gates;
  int contractions = 3;  ///< Of the state a token: the delta rule has three.
};

TensorId build_kernel(Builder& b, const LinearAttention& l, const KernelSpec& spec) {
  const TensorId state =
      b.tensor("linear.state", ir::Role::kState,
               {b.batch(), b.number(l.value_heads), b.number(l.key_dim), b.number(l.value_dim)},
               ir::find_dtype("fp32"));
  const TensorId output =
      b.activation("linear.out", {b.tokens(), b.number(l.value_heads * l.value_dim)});
  b.op({.kind = "linear_attention",
        .name = "linear",
        .dims = {{"b", b.batch()},
                 {"q", b.q_len()},
                 {"g", b.number(l.key_heads)},
                 {"h", b.number(l.value_heads)},
                 {"d", b.number(l.key_dim)},
                 {"v", b.number(l.value_dim)},
                 {"a", b.number(spec.contractions)}},
        .operands = {{"q", spec.qkv},
                     {"k", spec.qkv},
                     {"v", spec.qkv},
                     {"state", state},
                     {"o", output},
                     {"gates", spec.gates}},
        .split = Split::kHeads});
  return output;
}

/// Decay and step size from their projections, a learned offset and rate: softplus, exp and
/// sigmoid.
TensorId build_decay(Builder& b, TensorId projected, std::int64_t width, std::int64_t rates) {
  const TensorId parameters = b.weight("linear.decay_parameters", {rates});
  return b.elementwise({.name = "linear.decay",
                        .inputs = {projected, parameters},
                        .shape = {b.tokens(), b.number(width)},
                        .read = b.tokens() * b.number(width),
                        .arithmetic = 4,
                        .special = 2,
                        .function = "softplus_decay",
                        .split = Split::kHeads});
}

/// Norm over each head's values times a gate, in one pass.
TensorId build_gated_norm(Builder& b, const LinearAttention& l, TensorId mixed,
                          std::int64_t gains) {
  const Expr width = b.number(l.value_heads * l.value_dim);
  return b.elementwise({.name = "linear.gated_norm",
                        .inputs = {mixed, b.weight("linear.norm.gain", {gains})},
                        .shape = {b.tokens(), width},
                        .read = 2 * b.tokens() * width,
                        .arithmetic = 7,
                        .special = 1,
                        .function = "norm_gate",
                        .split = Split::kHeads});
}

void build_output(Builder& b, const LinearAttention& l, TensorId mixed, TensorId output) {
  b.matmul_into({.name = "linear.output",
                 .input = mixed,
                 .rows = b.tokens(),
                 .in = l.value_heads * l.value_dim,
                 .out = b.hidden(),
                 .role = WeightRole::kOutput,
                 .split = Split::kRow},
                output);
}

void build_gated_delta_net(Builder& b, const LinearAttention& l, TensorId input, TensorId output) {
  const Widths w(l);
  const TensorId qkvz = project(b, "linear.qkvz", input, b.hidden(), 2 * w.keys + 2 * w.values);
  const TensorId ba = project(b, "linear.ba", input, b.hidden(), 2 * l.value_heads);
  const TensorId qkv = b.convolution({.name = "linear.convolution",
                                      .input = qkvz,
                                      .channels = 2 * w.keys + w.values,
                                      .taps = l.taps});
  const TensorId gates = build_decay(b, ba, 2 * l.value_heads, 2 * l.value_heads);
  const TensorId mixed = build_kernel(b, l, {.qkv = qkv, .gates = gates});
  build_output(b, l, build_gated_norm(b, l, mixed, l.value_dim), output);
}

/// Kimi delta attention: the decay is per key channel and comes from a low-rank pair, as does the
/// output gate.
void build_kimi_delta(Builder& b, const LinearAttention& l, TensorId input, TensorId output) {
  const Widths w(l);
  const TensorId projected = project(b, "linear.qkv", input, b.hidden(), 2 * w.keys + w.values);
  const TensorId low =
      project(b, "linear.gates_a", input, b.hidden(), l.key_dim + l.value_dim + l.value_heads);
  const TensorId decay = project(b, "linear.decay_b", low, l.key_dim, w.keys);
  project(b, "linear.gate_b", low, l.value_dim, w.values);
  const TensorId qkv = b.convolution({.name = "linear.convolution",
                                      .input = projected,
                                      .channels = 2 * w.keys + w.values,
                                      .taps = l.taps});
  const TensorId gates = build_decay(b, decay, w.keys, w.keys + l.value_heads);
  const TensorId mixed = build_kernel(b, l, {.qkv = qkv, .gates = gates});
  build_output(b, l, build_gated_norm(b, l, mixed, l.value_dim), output);
}

/// Lightning attention: a fixed decay per head, SiLU on queries, keys and values, norm over all
/// heads, sigmoid gate.
void build_lightning(Builder& b, const LinearAttention& l, TensorId input, TensorId output) {
  const Widths w(l);
  const Expr all = b.number(2 * w.keys + w.values);
  const TensorId projected = project(b, "linear.qkv", input, b.hidden(), 2 * w.keys + w.values);
  const TensorId qkv = b.elementwise({.name = "linear.activation",
                                      .inputs = {projected},
                                      .shape = {b.tokens(), all},
                                      .read = b.tokens() * all,
                                      .arithmetic = 2,
                                      .special = 1,
                                      .function = "silu",
                                      .split = Split::kHeads});
  const TensorId gate = project(b, "linear.gate", input, b.hidden(), w.values);
  const TensorId mixed = build_kernel(b, l, {.qkv = qkv, .gates = gate, .contractions = 2});
  build_output(b, l, build_gated_norm(b, l, mixed, w.values), output);
}

}  // namespace

void build_linear_attention(Builder& b, const LinearAttention& l, TensorId input, TensorId output) {
  switch (l.kind) {
    case LinearAttention::Kind::kGatedDeltaNet:
      build_gated_delta_net(b, l, input, output);
      return;
    case LinearAttention::Kind::kKimiDelta:
      build_kimi_delta(b, l, input, output);
      return;
    case LinearAttention::Kind::kLightning:
      build_lightning(b, l, input, output);
      return;
  }
}

}  // namespace mansard::frontend::hf
