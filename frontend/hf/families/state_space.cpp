#include "frontend/hf/families/families.hpp"
#include "frontend/hf/mixers.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

Family mamba_base() {
  return {.keys = {.ffn = {}},
          .defaults = {.hidden = 768, .layers = 32, .vocabulary = 50280},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {all_mamba()},
          .ignores = {"hidden_act", "fused_add_norm", "rms_norm", "residual_in_fp32",
                      "rescale_prenorm_residual", "pad_vocab_size_multiple", "time_step_rank",
                      "use_mambapy", "use_associative_scan", "use_falcon_mambapy", "mixer_rms_eps",
                      "chunk_size", "d_model", "n_layer", "d_inner", "ssm_cfg", "norm_before_gate",
                      "norm_epsilon"}};
}

Mixer falcon_mamba_mixer(Config& config, const Sizes& sizes) {
  Mixer mixer = mamba1(config, sizes);
  std::get<Mamba1>(mixer).inner_norms = Mamba1::InnerNorms::kWithoutGain;
  return mixer;
}

/// Experts work in a narrower space where moe_latent_size says so (Nemotron 3 Super).
void narrow_experts(Config& config, std::vector<Layer>& layers) {
  const auto latent = config.integer({"moe_latent_size"}).value_or(0);
  const auto shared = config.integer({"n_shared_experts", "num_shared_experts"}).value_or(1);
  for (Layer& layer : layers) {
    if (layer.moe) {
      layer.moe->latent = latent;
      layer.moe->shared_width *= shared;
    }
  }
}

}  // namespace

Family mamba() {
  Family family = mamba_base();
  family.name = "mamba";
  family.architectures = {"MambaForCausalLM"};
  family.model_types = {"mamba"};
  family.mamba = mamba1;
  return family;
}

/// Norms without gain on dt, B and C; intermediate_size rules, `expand` is wrong in the published
/// file.
Family falcon_mamba() {
  Family family = mamba_base();
  family.name = "falcon_mamba";
  family.architectures = {"FalconMambaForCausalLM"};
  family.model_types = {"falcon_mamba"};
  family.defaults.vocabulary = 65024;
  family.mamba = falcon_mamba_mixer;
  return family;
}

/// Mamba 2 and Codestral-Mamba.
Family mamba2_family() {
  Family family = mamba_base();
  family.name = "mamba2";
  family.architectures = {"Mamba2ForCausalLM"};
  family.model_types = {"mamba2"};
  family.defaults = {.hidden = 4096, .layers = 64, .vocabulary = 32768};
  family.head.tied = from("tie_word_embeddings");
  family.mamba = mamba2;
  return family;
}

/// One attention in eight layers, experts in every other; no positions.
Family jamba() {
  return {
      .name = "jamba",
      .architectures = {"JambaForCausalLM"},
      .model_types = {"jamba"},
      .keys = {.expert_width = {"intermediate_size"}, .shared_experts = {}},
      .defaults = {.hidden = 4096,
                   .layers = 32,
                   .heads = 32,
                   .kv_heads = 8,
                   .ffn = 14336,
                   .vocabulary = 65536,
                   .max_context = 262144,
                   .experts = 16,
                   .top_k = 2},
      .attention = {.rope = false},
      .layers = {mamba_but_every("attn_layer_period", "attn_layer_offset"),
                 moe_by_period("expert_layer_period", "expert_layer_offset")},
      .mamba = jamba_mamba,
      .expects = {{"sliding_window", "null"}},
      .ignores = {"use_mamba_kernels", "mamba_inner_layernorms", "calc_logits_for_entire_prompt",
                  "n_ctx", "use_mambapy", "use_associative_scan"}};
}

/// Nemotron-H, Nemotron Nano 2 and Nemotron 3: a layer is one of mamba 2, attention, feed-forward
/// or experts, with one norm.
Family nemotron_h() {
  return {.name = "nemotron_h",
          .architectures = {"NemotronHForCausalLM"},
          .model_types = {"nemotron_h"},
          .keys = {.head_dim = {"head_dim", "attention_head_dim"},
                   .shared_experts = {},
                   .shared_width = {"moe_shared_expert_intermediate_size"},
                   .activation = {"mlp_hidden_act"}},
          .defaults = {.hidden = 4096,
                       .heads = 32,
                       .kv_heads = 8,
                       .head_dim = 128,
                       .ffn = 21504,
                       .vocabulary = 131072,
                       .max_context = 4096,
                       .activation = "relu2"},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .rope = false},
          .feed_forward = {.gated = false, .correction_bias = always()},
          .layers = {lettered_layers("hybrid_override_pattern", "layers_block_type")},
          .mamba = nemotron_mamba,
          .adjust_layers = narrow_experts,
          .expects = {{"sliding_window", "null"}, {"mlp_bias", "false"}},
          .ignores = {"expand", "chunk_size", "hidden_act", "mamba_hidden_act", "residual_in_fp32",
                      "rescale_prenorm_residual", "use_mamba_kernels", "mamba_ssm_cache_dtype",
                      "partial_rotary_factor", "mamba_proj_bias", "norm_eps"}};
}

}  // namespace mansard::frontend::hf
