#pragma once

#include "frontend/hf/architecture.hpp"
#include "frontend/hf/family.hpp"

/// Readers of the mixers that are not plain attention: what the keys of a config say of one.
namespace mansard::frontend::hf {

/// kv_lora_rank and its companions; with index_topk, sparse.
[[nodiscard]] Mixer latent_attention(Config& config, const Sizes& sizes);
/// linear_* keys (qwen3-next).
[[nodiscard]] Mixer gated_delta_net(Config& config, const Sizes& sizes);
/// linear_attn_config (kimi-linear).
[[nodiscard]] Mixer kimi_delta(Config& config, const Sizes& sizes);
/// As many heads as attention has, of its head dim (minimax-text-01).
[[nodiscard]] Mixer lightning(Config& config, const Sizes& sizes);
/// state_size, conv_kernel, time_step_rank, expand or intermediate_size (mamba, falcon-mamba).
[[nodiscard]] Mixer mamba1(Config& config, const Sizes& sizes);
/// The same with mamba_ before each key (jamba).
[[nodiscard]] Mixer jamba_mamba(Config& config, const Sizes& sizes);
/// mamba2 and codestral-mamba.
[[nodiscard]] Mixer mamba2(Config& config, const Sizes& sizes);
/// mamba_num_heads, mamba_head_dim, n_groups, ssm_state_size (nemotron_h).
[[nodiscard]] Mixer nemotron_mamba(Config& config, const Sizes& sizes);
/// mamba_n_heads, mamba_d_head, mamba_n_groups, mamba_d_state (granitemoehybrid, bamba).
[[nodiscard]] Mixer granite_mamba(Config& config, const Sizes& sizes);
/// conv_L_cache, conv_bias (lfm2).
[[nodiscard]] Mixer short_convolution(Config& config, const Sizes& sizes);

}  // namespace mansard::frontend::hf
