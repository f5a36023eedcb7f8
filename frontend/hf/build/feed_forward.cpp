#include "frontend/hf/build/builder.hpp"

namespace mansard::frontend::hf {

using ir::Expr;
using ir::Split;
using ir::TensorId;

namespace {

/// up (and gate), activation, down. `rows` tokens.
struct MlpSpec {
  std::string name;
  TensorId input;
  std::int64_t width = 0;
  bool gated = true;
  bool bias = false;
  bool inner_norm = false;
  WeightRole role = WeightRole::kDense;
  const Activation* activation = nullptr;
  Split activation_split = Split::kColumn;
};

TensorId build_activation(Builder& b, const std::string& name, TensorId input, Expr rows,
                          const MlpSpec& spec) {
  const Expr width = b.number(spec.width);
  const std::int64_t parameters = spec.activation->parameters;
  std::vector<TensorId> inputs = {input};
  if (parameters > 0) {
    inputs.push_back(b.weight(name + ".parameters", {parameters}));
  }
  return b.elementwise({.name = name,
                        .inputs = std::move(inputs),
                        .shape = {rows, width},
                        .read = rows * width * static_cast<double>(spec.gated ? 2 : 1) +
                                static_cast<double>(parameters),
                        .arithmetic = spec.activation->arithmetic,
                        .special = spec.activation->special,
                        .function = spec.activation->name,
                        .split = spec.activation_split});
}

void build_mlp(Builder& b, const MlpSpec& spec, TensorId output) {
  const std::int64_t up = spec.width * (spec.gated ? 2 : 1);
  const TensorId wide = b.matmul({.name = spec.name + (spec.gated ? ".gate_up" : ".up"),
                                  .input = spec.input,
                                  .rows = b.tokens(),
                                  .in = b.hidden(),
                                  .out = up,
                                  .role = spec.role,
                                  .split = Split::kColumn,
                                  .bias = spec.bias ? up : 0});
  TensorId active = build_activation(b, spec.name + ".activation", wide, b.tokens(), spec);
  if (spec.inner_norm) {
    active = b.norm({.name = spec.name + ".inner_norm",
                     .input = active,
                     .rows = b.tokens(),
                     .columns = spec.width,
                     .gains = spec.width,
                     .split = spec.activation_split});
  }
  b.matmul_into({.name = spec.name + ".down",
                 .input = active,
                 .rows = b.tokens(),
                 .in = spec.width,
                 .out = b.hidden(),
                 .role = spec.role,
                 .split = Split::kRow,
                 .bias = spec.bias ? b.hidden() : 0},
                output);
}

/// Real experts that a token uses: of its choices those that cost something, expected.
std::int64_t used_experts(const Moe& moe) {
  return moe.top_k * moe.experts / (moe.experts + moe.zero_experts);
}

/// Experts that `tokens` tokens touch: E (1 - (1 - k/E)^tokens) expected under uniform routing; k
/// at least.
Expr expected_experts(Builder& b, const Moe& moe) {
  const Expr experts = b.number(moe.experts);
  const std::int64_t used = used_experts(moe);
  if (used == moe.experts) {
    return experts;
  }
  const double missed = 1.0 - static_cast<double>(used) / static_cast<double>(moe.experts);
  return experts * (1.0 - pow(b.graph().pool().constant(missed), b.tokens()));
}

struct GroupedSpec {
  std::string name;
  TensorId input;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

TensorId build_grouped(Builder& b, const Moe& moe, const GroupedSpec& spec) {
  const Expr rows = b.tokens() * b.number(used_experts(moe));
  const ir::Dtype* type = b.layer().formats.weight(WeightRole::kExperts);
  const TensorId output = b.activation(spec.name + ".out", {rows, b.number(spec.out)});
  OpSpec op = {
      .kind = "grouped_matmul",
      .name = spec.name,
      .dims = {{"m", rows},
               {"n", b.number(spec.out)},
               {"k", b.number(spec.in)},
               {"e", b.number(moe.experts)},
               {"u", expected_experts(b, moe)},
               {"l", b.number(used_experts(moe))},
               {"bias", b.number(moe.expert_bias ? 1 : 0)}},
      .operands = {{"a", spec.input},
                   {"w", b.weight(spec.name + ".weight", {moe.experts, spec.in, spec.out}, type)},
                   {"c", output}},
      .split = Split::kExperts};
  if (moe.expert_bias) {
    op.operands.emplace_back("bias", b.weight(spec.name + ".bias", {moe.experts, spec.out}));
  }
  b.op(std::move(op));
  b.narrow_input(WeightRole::kExperts);
  return output;
}

void build_router(Builder& b, const Moe& moe, TensorId input) {
  TensorId scaled = input;
  if (moe.router_scale) {
    scaled = b.norm({.name = "moe.router_norm",
                     .input = b.residual(),
                     .rows = b.tokens(),
                     .columns = b.hidden(),
                     .gains = b.hidden()});
  }
  const std::int64_t choices = moe.experts + moe.zero_experts;
  const TensorId logits = b.matmul({.name = "moe.router",
                                    .input = scaled,
                                    .rows = b.tokens(),
                                    .in = b.hidden(),
                                    .out = choices,
                                    .role = WeightRole::kRouter,
                                    .split = Split::kReplicated,
                                    .bias = moe.router_bias ? choices : 0});
  const bool bias = moe.correction_bias || moe.router_scale;
  OpSpec op = {
      .kind = "moe_router",
      .name = "moe.top_k",
      .dims = {{"t", b.tokens()},
               {"e", b.number(choices)},
               {"k", b.number(moe.top_k)},
               {"bias", b.number(bias ? 1 : 0)}},
      .operands = {
          {"logits", logits},
          {"routes", b.activation("moe.routes", {b.tokens(), b.number(moe.top_k), b.number(2)})}}};
  if (bias) {
    op.operands.emplace_back("bias", b.weight("moe.correction_bias", {choices}));
  }
  b.op(std::move(op));
}

TensorId build_experts(Builder& b, const Moe& moe, TensorId input) {
  const std::int64_t space = moe.latent > 0 ? moe.latent : b.hidden();
  TensorId entering = input;
  if (moe.latent > 0) {
    entering = b.matmul({.name = "moe.latent_in",
                         .input = input,
                         .rows = b.tokens(),
                         .in = b.hidden(),
                         .out = moe.latent,
                         .role = WeightRole::kShared,
                         .split = Split::kReplicated});
  }
  const std::int64_t up = moe.width * (moe.gated ? 2 : 1);
  const TensorId wide = build_grouped(
      b, moe,
      {.name = moe.gated ? "moe.gate_up" : "moe.up", .input = entering, .in = space, .out = up});
  const MlpSpec activation = {.width = moe.width,
                              .gated = moe.gated,
                              .activation = &moe.activation,
                              .activation_split = Split::kExperts};
  const TensorId active = build_activation(b, "moe.activation", wide,
                                           b.tokens() * b.number(used_experts(moe)), activation);
  return build_grouped(b, moe,
                       {.name = "moe.down", .input = active, .in = moe.width, .out = space});
}

/// Adds the chosen experts' outputs, weighted, and what the shared expert gave.
void build_combine(Builder& b, const Moe& moe, TensorId routed, std::optional<TensorId> shared,
                   TensorId output) {
  const Expr width = b.number(moe.latent > 0 ? moe.latent : b.hidden());
  const std::int64_t terms = used_experts(moe) + (moe.zero_experts > 0 ? 1 : 0) + (shared ? 1 : 0);
  OpSpec op = {.kind = "elementwise",
               .name = "moe.combine",
               .dims = {{"n", b.tokens() * width},
                        {"i", b.tokens() * width * static_cast<double>(terms)},
                        {"a", b.number(used_experts(moe) + terms - 1)},
                        {"s", b.number(0)}},
               .operands = {{"x", routed}, {"o", output}},
               .attributes = {{"function", "weighted_sum"}}};
  if (shared) {
    op.operands.emplace_back("y", *shared);
  }
  b.op(std::move(op));
}

TensorId build_shared(Builder& b, const Moe& moe, TensorId input) {
  const TensorId output = b.activation("moe.shared.out", {b.tokens(), b.number(b.hidden())});
  build_mlp(b,
            {.name = "moe.shared",
             .input = input,
             .width = moe.shared_width,
             .gated = moe.gated,
             .role = WeightRole::kShared,
             .activation = &moe.activation},
            output);
  if (!moe.shared_gate) {
    return output;
  }
  const TensorId gate = b.matmul({.name = "moe.shared_gate",
                                  .input = input,
                                  .rows = b.tokens(),
                                  .in = b.hidden(),
                                  .out = 1,
                                  .role = WeightRole::kRouter,
                                  .split = Split::kReplicated});
  return b.elementwise({.name = "moe.shared_gated",
                        .inputs = {output, gate},
                        .shape = {b.tokens(), b.number(b.hidden())},
                        .read = b.tokens() * b.number(b.hidden() + 1),
                        .arithmetic = 3,
                        .special = 1,
                        .function = "sigmoid_mul"});
}

}  // namespace

void build_dense(Builder& b, const Dense& dense, TensorId input, TensorId output) {
  if (dense.width == 0) {
    b.matmul_into({.name = "mlp.linear",
                   .input = input,
                   .rows = b.tokens(),
                   .in = b.hidden(),
                   .out = b.hidden(),
                   .role = WeightRole::kDense,
                   .split = Split::kRow},
                  output);
    return;
  }
  build_mlp(b,
            {.name = "mlp",
             .input = input,
             .width = dense.width,
             .gated = dense.gated,
             .bias = dense.bias,
             .inner_norm = dense.inner_norm,
             .role = WeightRole::kDense,
             .activation = &dense.activation},
            output);
}

void build_moe(Builder& b, const Moe& moe, TensorId input, TensorId output) {
  build_router(b, moe, input);
  const TensorId routed = build_experts(b, moe, input);
  std::optional<TensorId> shared;
  if (moe.shared_width > 0) {
    shared = build_shared(b, moe, input);
  }
  if (moe.latent == 0) {
    build_combine(b, moe, routed, shared, output);
    return;
  }
  const TensorId latent = b.activation("moe.combine.out", {b.tokens(), b.number(moe.latent)});
  build_combine(b, moe, routed, std::nullopt, latent);
  b.matmul_into({.name = "moe.latent_out",
                 .input = latent,
                 .rows = b.tokens(),
                 .in = moe.latent,
                 .out = b.hidden(),
                 .role = WeightRole::kShared,
                 .split = Split::kReplicated},
                output);
}

}  // namespace mansard::frontend::hf
