#include "frontend/hf/build/builder.hpp"

/// The recurrent block of Griffin (arXiv 2402.19427, section 2.4): two branches, one through a
/// short convolution and a real-gated linear recurrent unit, one through a gelu.
namespace mansard::frontend::hf {

using ir::Split;
using ir::TensorId;

namespace {

TensorId project(Builder& b, const std::string& name, TensorId input, std::int64_t out) {
  return b.matmul({.name = name,
                   .input = input,
                   .rows = b.tokens(),
                   .in = b.hidden(),
                   .out = out,
                   .role = WeightRole::kMixer,
                   .split = Split::kColumn,
                   .bias = out});
}

/// A block-diagonal map, one square matrix a block.
TensorId build_gate(Builder& b, const GatedRecurrence& r, const std::string& name, TensorId input) {
  return b.matmul({.name = name,
                   .input = input,
                   .rows = b.tokens(),
                   .in = r.width / r.blocks,
                   .out = r.width / r.blocks,
                   .role = WeightRole::kMixer,
                   .split = Split::kHeads,
                   .bias = r.width,
                   .copies = r.blocks});
}

/// One state a channel, kept in fp32; a sigmoid each for two gates, softplus, exp and square root.
TensorId build_scan(Builder& b, const GatedRecurrence& r, TensorId x, TensorId input_gate,
                    TensorId decay) {
  const TensorId state =
      b.tensor("recurrence.state", ir::Role::kState,
               {b.batch(), b.number(r.width), b.number(1), b.number(1)}, ir::find_dtype("fp32"));
  const TensorId output = b.activation("recurrence.scan.out", {b.tokens(), b.number(r.width)});
  b.op({.kind = "ssm_scan",
        .name = "recurrence.scan",
        .dims = {{"b", b.batch()},
                 {"q", b.q_len()},
                 {"h", b.number(r.width)},
                 {"d", b.number(1)},
                 {"s", b.number(1)},
                 {"x", b.number(r.width)},
                 {"g", b.number(1)}},
        .operands = {{"x", x},
                     {"dt", decay},
                     {"bc", input_gate},
                     {"state", state},
                     {"o", output},
                     {"a", b.weight("recurrence.rates", {r.width})}},
        .split = Split::kHeads});
  return output;
}

TensorId multiply(Builder& b, const GatedRecurrence& r, TensorId mixed, TensorId gate) {
  const ir::Expr elements = b.tokens() * b.number(r.width);
  return b.elementwise({.name = "recurrence.gate",
                        .inputs = {mixed, gate},
                        .shape = {b.tokens(), b.number(r.width)},
                        .read = 2 * elements,
                        .arithmetic = 9,
                        .special = 1,
                        .function = "gelu_mul",
                        .split = Split::kHeads});
}

}  // namespace

void build_gated_recurrence(Builder& b, const GatedRecurrence& r, TensorId input, TensorId output) {
  const TensorId gate = project(b, "recurrence.y", input, r.width);
  const TensorId projected = project(b, "recurrence.x", input, r.width);
  const TensorId x = b.convolution({.name = "recurrence.convolution",
                                    .input = projected,
                                    .channels = r.width,
                                    .taps = r.taps,
                                    .bias = true});
  const TensorId input_gate = build_gate(b, r, "recurrence.input_gate", x);
  const TensorId decay = build_gate(b, r, "recurrence.decay", x);
  const TensorId mixed = build_scan(b, r, x, input_gate, decay);
  b.matmul_into({.name = "recurrence.output",
                 .input = multiply(b, r, mixed, gate),
                 .rows = b.tokens(),
                 .in = r.width,
                 .out = b.hidden(),
                 .role = WeightRole::kOutput,
                 .split = Split::kRow,
                 .bias = b.hidden()},
                output);
}

}  // namespace mansard::frontend::hf
