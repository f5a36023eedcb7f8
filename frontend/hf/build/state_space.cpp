#include "frontend/hf/build/builder.hpp"

namespace mansard::frontend::hf {

using ir::Expr;
using ir::Split;
using ir::TensorId;

namespace {

TensorId project(Builder& b, const std::string& name, TensorId input, std::int64_t out, bool bias) {
  return b.matmul({.name = name,
                   .input = input,
                   .rows = b.tokens(),
                   .in = b.hidden(),
                   .out = out,
                   .role = WeightRole::kMixer,
                   .split = Split::kColumn,
                   .bias = bias ? out : 0});
}

void build_output(Builder& b, TensorId mixed, std::int64_t inner, bool bias, TensorId output) {
  b.matmul_into({.name = "mamba.output",
                 .input = mixed,
                 .rows = b.tokens(),
                 .in = inner,
                 .out = b.hidden(),
                 .role = WeightRole::kOutput,
                 .split = Split::kRow,
                 .bias = bias ? b.hidden() : 0},
                output);
}

/// The recurrence, over channels (mamba) or heads (mamba 2).
struct ScanSpec {
  TensorId x;
  TensorId dt;
  TensorId bc;
  std::int64_t heads = 0;
  std::int64_t head_dim = 1;
  std::int64_t state = 0;
  std::int64_t groups = 1;
  std::int64_t exponentials = 0;  ///< Per token.
  std::vector<std::int64_t>
      weights;  ///< Shape of the decay rates, with D (and dt's bias) behind them.
};

TensorId build_scan(Builder& b, const ScanSpec& spec) {
  const TensorId state =
      b.tensor("mamba.state", ir::Role::kState,
               {b.batch(), b.number(spec.heads), b.number(spec.head_dim), b.number(spec.state)},
               ir::find_dtype("fp32"));
  const TensorId output =
      b.activation("mamba.scan.out", {b.tokens(), b.number(spec.heads * spec.head_dim)});
  b.op({.kind = "ssm_scan",
        .name = "mamba.scan",
        .dims = {{"b", b.batch()},
                 {"q", b.q_len()},
                 {"h", b.number(spec.heads)},
                 {"d", b.number(spec.head_dim)},
                 {"s", b.number(spec.state)},
                 {"x", b.number(spec.exponentials)},
                 {"g", b.number(spec.groups)}},
        .operands = {{"x", spec.x},
                     {"dt", spec.dt},
                     {"bc", spec.bc},
                     {"state", state},
                     {"o", output},
                     {"a", b.weight("mamba.rates", spec.weights)}},
        .split = Split::kHeads});
  return output;
}

TensorId build_gate(Builder& b, TensorId mixed, TensorId gate, std::int64_t inner,
                    std::int64_t norm_arithmetic) {
  const Expr elements = b.tokens() * b.number(inner);
  return b.elementwise({.name = "mamba.gate",
                        .inputs = {mixed, gate},
                        .shape = {b.tokens(), b.number(inner)},
                        .read = 2 * elements,
                        .arithmetic = 3 + norm_arithmetic,
                        .special = 1,
                        .function = norm_arithmetic > 0 ? "norm_silu_mul" : "silu_mul",
                        .split = Split::kHeads});
}

void build_inner_norms(Builder& b, const Mamba1& m, TensorId dt_bc) {
  if (m.inner_norms == Mamba1::InnerNorms::kNone) {
    return;
  }
  const bool gain = m.inner_norms == Mamba1::InnerNorms::kGain;
  const auto normalise = [&](const char* name, std::int64_t columns) {
    b.norm_into({.name = name,
                 .input = dt_bc,
                 .rows = b.tokens(),
                 .columns = columns,
                 .gains = gain ? columns : 0},
                dt_bc);
  };
  normalise("mamba.dt_norm", m.dt_rank);
  normalise("mamba.b_norm", m.state);
  normalise("mamba.c_norm", m.state);
}

}  // namespace

void build_mamba1(Builder& b, const Mamba1& m, TensorId input, TensorId output) {
  const TensorId xz = project(b, "mamba.in", input, 2 * m.inner, m.projection_bias);
  const TensorId x = b.convolution({.name = "mamba.convolution",
                                    .input = xz,
                                    .channels = m.inner,
                                    .taps = m.taps,
                                    .bias = m.conv_bias});
  const TensorId dt_bc = b.matmul({.name = "mamba.x",
                                   .input = x,
                                   .rows = b.tokens(),
                                   .in = m.inner,
                                   .out = m.dt_rank + 2 * m.state,
                                   .role = WeightRole::kMixer,
                                   .split = Split::kRow});
  build_inner_norms(b, m, dt_bc);
  const TensorId dt = b.matmul({.name = "mamba.dt",
                                .input = dt_bc,
                                .rows = b.tokens(),
                                .in = m.dt_rank,
                                .out = m.inner,
                                .role = WeightRole::kMixer,
                                .split = Split::kColumn,
                                .bias = m.inner});
  const TensorId mixed = build_scan(b, {.x = x,
                                        .dt = dt,
                                        .bc = dt_bc,
                                        .heads = m.inner,
                                        .state = m.state,
                                        .exponentials = m.inner * m.state,
                                        .weights = {m.inner, m.state + 1}});
  build_output(b, build_gate(b, mixed, xz, m.inner, 0), m.inner, m.projection_bias, output);
}

void build_mamba2(Builder& b, const Mamba2& m, TensorId input, TensorId output) {
  const std::int64_t inner = m.heads * m.head_dim;
  const std::int64_t convolved = inner + 2 * m.groups * m.state;
  const TensorId zxbcdt =
      project(b, "mamba.in", input, inner + convolved + m.heads, m.projection_bias);
  const TensorId xbc = b.convolution({.name = "mamba.convolution",
                                      .input = zxbcdt,
                                      .channels = convolved,
                                      .taps = m.taps,
                                      .bias = m.conv_bias});
  TensorId mixed = build_scan(b, {.x = xbc,
                                  .dt = zxbcdt,
                                  .bc = xbc,
                                  .heads = m.heads,
                                  .head_dim = m.head_dim,
                                  .state = m.state,
                                  .groups = m.groups,
                                  .exponentials = m.heads,
                                  .weights = {3, m.heads}});
  if (m.gated_norm) {
    // The gain is read by an operand of its own, so the gate comes by the projection that made it.
    mixed = build_gate(b, mixed, b.weight("mamba.norm.gain", {inner}), inner, 4);
  } else {
    mixed = build_gate(b, mixed, zxbcdt, inner, 0);
  }
  build_output(b, mixed, inner, m.projection_bias, output);
}

void build_short_convolution(Builder& b, const ShortConvolution& c, TensorId input,
                             TensorId output) {
  const TensorId bcx = project(b, "convolution.in", input, 3 * b.hidden(), c.bias);
  const Expr elements = b.tokens() * b.number(b.hidden());
  const auto gate = [&](const char* name, TensorId x) {
    return b.elementwise({.name = name,
                          .inputs = {x, bcx},
                          .shape = {b.tokens(), b.number(b.hidden())},
                          .read = 2 * elements,
                          .arithmetic = 1,
                          .function = "mul",
                          .split = Split::kColumn});
  };
  const TensorId x = gate("convolution.in_gate", bcx);
  const TensorId mixed = b.convolution(
      {.name = "convolution", .input = x, .channels = b.hidden(), .taps = c.taps, .bias = c.bias});
  build_output(b, gate("convolution.out_gate", mixed), b.hidden(), c.bias, output);
}

}  // namespace mansard::frontend::hf
