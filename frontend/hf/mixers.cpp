#include "frontend/hf/mixers.hpp"

#include <fmt/format.h>

#include "frontend/hf/describe.hpp"

namespace mansard::frontend::hf {

namespace {

std::optional<SparseIndex> sparse_index(Config& config) {
  if (config.integer({"index_topk"}).value_or(0) == 0) {
    return std::nullopt;
  }
  return SparseIndex{.heads = required(config, {"index_n_heads"}),
                     .dim = required(config, {"index_head_dim"}),
                     .top_k = required(config, {"index_topk"})};
}

std::int64_t inner_size(Config& config, const Sizes& sizes, std::string_view expand) {
  return config.integer({expand}).value_or(2) * sizes.hidden;
}

}  // namespace

Mixer latent_attention(Config& config, const Sizes& sizes) {
  return Mla{
      .heads = sizes.heads,
      .q_rank = config.integer({"q_lora_rank"}).value_or(0),
      .kv_rank = required(config, {"kv_lora_rank"}),
      .nope_dim = required(config, {"qk_nope_head_dim"}),
      .rope_dim = required(config, {"qk_rope_head_dim"}),
      .value_dim = required(config, {"v_head_dim"}),
      .bias = config.boolean("attention_bias").value_or(false),
      .rotates = !config.boolean("mla_use_nope").value_or(false),
      .index = sparse_index(config),
  };
}

Mixer gated_delta_net(Config& config, const Sizes& /*sizes*/) {
  return LinearAttention{
      .kind = LinearAttention::Kind::kGatedDeltaNet,
      .key_heads = required(config, {"linear_num_key_heads"}, 16),
      .value_heads = required(config, {"linear_num_value_heads"}, 32),
      .key_dim = required(config, {"linear_key_head_dim"}, 128),
      .value_dim = required(config, {"linear_value_head_dim"}, 128),
      .taps = required(config, {"linear_conv_kernel_dim"}, 4),
  };
}

Mixer kimi_delta(Config& config, const Sizes& /*sizes*/) {
  const std::int64_t heads = required(config, {"linear_attn_config.num_heads", "linear_num_heads"});
  const std::int64_t dim = required(config, {"linear_attn_config.head_dim", "linear_head_dim"});
  return LinearAttention{
      .kind = LinearAttention::Kind::kKimiDelta,
      .key_heads = heads,
      .value_heads = heads,
      .key_dim = dim,
      .value_dim = dim,
      .taps = required(config,
                       {"linear_attn_config.short_conv_kernel_size", "linear_conv_kernel_dim"}, 4),
  };
}

Mixer lightning(Config& /*config*/, const Sizes& sizes) {
  return LinearAttention{
      .kind = LinearAttention::Kind::kLightning,
      .key_heads = sizes.heads,
      .value_heads = sizes.heads,
      .key_dim = sizes.head_dim,
      .value_dim = sizes.head_dim,
  };
}

Mixer mamba1(Config& config, const Sizes& sizes) {
  const std::int64_t otherwise = inner_size(config, sizes, "expand");
  const auto rank = config.string("time_step_rank");
  const bool automatic = !rank || *rank == "auto";
  return Mamba1{
      .inner = config.integer({"intermediate_size"}).value_or(otherwise),
      .state = required(config, {"state_size"}, 16),
      .dt_rank = automatic ? (sizes.hidden + 15) / 16 : required(config, {"time_step_rank"}),
      .taps = required(config, {"conv_kernel"}, 4),
      .conv_bias = config.boolean("use_conv_bias").value_or(true),
      .projection_bias = config.boolean("use_bias").value_or(false),
  };
}

Mixer jamba_mamba(Config& config, const Sizes& sizes) {
  const auto rank = config.string("mamba_dt_rank");
  const bool automatic = !rank || *rank == "auto";
  return Mamba1{
      .inner = inner_size(config, sizes, "mamba_expand"),
      .state = required(config, {"mamba_d_state"}, 16),
      .dt_rank = automatic ? (sizes.hidden + 15) / 16 : required(config, {"mamba_dt_rank"}),
      .taps = required(config, {"mamba_d_conv"}, 4),
      .conv_bias = config.boolean("mamba_conv_bias").value_or(true),
      .projection_bias = config.boolean("mamba_proj_bias").value_or(false),
      .inner_norms = Mamba1::InnerNorms::kGain,
  };
}

Mixer mamba2(Config& config, const Sizes& sizes) {
  const std::int64_t inner = inner_size(config, sizes, "expand");
  const std::int64_t head_dim = required(config, {"head_dim"}, 64);
  return Mamba2{
      .heads = required(config, {"num_heads"}, inner / head_dim),
      .head_dim = head_dim,
      .groups = required(config, {"n_groups"}, 8),
      .state = required(config, {"state_size"}, 128),
      .taps = required(config, {"conv_kernel"}, 4),
      .conv_bias = config.boolean("use_conv_bias").value_or(true),
      .projection_bias = config.boolean("use_bias").value_or(false),
  };
}

Mixer nemotron_mamba(Config& config, const Sizes& /*sizes*/) {
  return Mamba2{
      .heads = required(config, {"mamba_num_heads"}, 128),
      .head_dim = required(config, {"mamba_head_dim"}, 64),
      .groups = required(config, {"n_groups"}, 8),
      .state = required(config, {"ssm_state_size"}, 128),
      .taps = required(config, {"conv_kernel"}, 4),
      .conv_bias = config.boolean("use_conv_bias").value_or(true),
      .projection_bias = config.boolean("use_bias").value_or(false),
  };
}

Mixer granite_mamba(Config& config, const Sizes& sizes) {
  const std::int64_t inner = inner_size(config, sizes, "mamba_expand");
  const std::int64_t heads = required(config, {"mamba_n_heads"}, 128);
  const auto stated = config.string("mamba_d_head");
  const bool automatic = !stated || *stated == "auto";
  return Mamba2{
      .heads = heads,
      .head_dim = automatic ? inner / heads : required(config, {"mamba_d_head"}),
      .groups = required(config, {"mamba_n_groups"}, 1),
      .state = required(config, {"mamba_d_state"}, 256),
      .taps = required(config, {"mamba_d_conv"}, 4),
      .conv_bias = config.boolean("mamba_conv_bias").value_or(true),
      .projection_bias = config.boolean("mamba_proj_bias").value_or(false),
  };
}

Mixer short_convolution(Config& config, const Sizes& /*sizes*/) {
  return ShortConvolution{.taps = required(config, {"conv_L_cache"}, 3),
                          .bias = config.boolean("conv_bias").value_or(false)};
}

}  // namespace mansard::frontend::hf
