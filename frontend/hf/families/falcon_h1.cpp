#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"

namespace mansard::frontend::hf {

namespace {

/// mamba_d_ssm is the inner width where it is stated, whatever mamba_expand says.
Mamba2 mamba_of(Config& config) {
  const auto expanded = config.integer({"mamba_expand"}).value_or(2);
  const auto hidden = required(config, {"hidden_size"}, 4096);
  const bool silent = !config.mentions("mamba_d_ssm");
  const auto stated = config.integer({"mamba_d_ssm"});
  const auto inner = stated.value_or(silent ? 1024 : expanded * hidden);
  const auto heads = required(config, {"mamba_n_heads"}, 128);
  const auto dim = config.string("mamba_d_head");
  const bool automatic = !dim || *dim == "auto";
  return {.heads = heads,
          .head_dim = automatic ? inner / heads : required(config, {"mamba_d_head"}),
          .groups = required(config, {"mamba_n_groups"}, 1),
          .state = required(config, {"mamba_d_state"}, 256),
          .taps = required(config, {"mamba_d_conv"}, 4),
          .conv_bias = config.boolean("mamba_conv_bias").value_or(true),
          .projection_bias = config.boolean("mamba_proj_bias").value_or(false),
          .gated_norm = config.boolean("mamba_rms_norm").value_or(false)};
}

void add_mamba(Config& config, std::vector<Layer>& layers) {
  const Mamba2 mamba = mamba_of(config);
  if (mamba.projection_bias != config.boolean("projectors_bias").value_or(false)) {
    config.refuse("config-key", "projectors_bias of falcon_h1 is known only as mamba_proj_bias",
                  config.location());
  }
  for (Layer& layer : layers) {
    layer.second_mixer = mamba;
  }
}

}  // namespace

/// Falcon-H1: attention and mamba 2 side by side in every layer.
Family falcon_h1() {
  return {
      .name = "falcon_h1",
      .architectures = {"FalconH1ForCausalLM"},
      .model_types = {"falcon_h1"},
      .defaults = {.hidden = 4096,
                   .layers = 32,
                   .heads = 32,
                   .kv_heads = 8,
                   .ffn = 14336,
                   .vocabulary = 128000,
                   .max_context = 8192},
      .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
      .feed_forward = {.bias = from("mlp_bias")},
      .adjust_layers = add_mamba,
      .ignores = {"attn_layer_indices", "attention_in_multiplier", "attention_out_multiplier",
                  "key_multiplier", "lm_head_multiplier", "mlp_multipliers", "ssm_in_multiplier",
                  "ssm_multipliers", "ssm_out_multiplier", "mamba_norm_before_gate",
                  "mamba_use_mlp", "layers_block_type", "mlp_expansion_factor"},
      .notes = {"Scalar multipliers are folded into their neighbours."}};
}

}  // namespace mansard::frontend::hf
