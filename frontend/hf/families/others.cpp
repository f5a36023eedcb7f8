#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"
#include "frontend/hf/mixers.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

constexpr Norm kLayerNorm = {.layer = true, .gain = true, .bias = true};

/// The first files state neither the value's width nor always the ranks.
Mixer minicpm3_attention(Config& config, const Sizes& sizes) {
  return Mla{.heads = sizes.heads,
             .q_rank = required(config, {"q_lora_rank"}, 768),
             .kv_rank = required(config, {"kv_lora_rank"}, 256),
             .nope_dim = required(config, {"qk_nope_head_dim"}, 64),
             .rope_dim = required(config, {"qk_rope_head_dim"}, 32),
             .value_dim = config.integer({"v_head_dim"}).value_or(sizes.hidden / sizes.heads),
             .bias = config.boolean("attention_bias").value_or(false)};
}

}  // namespace

/// Biases everywhere, sinks, alternating windows, experts whose gate and up are interleaved.
Family gpt_oss() {
  return {.name = "gpt_oss",
          .architectures = {"GptOssForCausalLM"},
          .model_types = {"gpt_oss"},
          .keys = {.expert_width = {"intermediate_size"}, .shared_experts = {}},
          .defaults = {.hidden = 2880,
                       .layers = 36,
                       .heads = 64,
                       .kv_heads = 8,
                       .head_dim = 64,
                       .ffn = 2880,
                       .vocabulary = 201088,
                       .max_context = 131072,
                       .window = 128,
                       .experts = 128,
                       .top_k = 4},
          .attention = {.qkv_bias = from("attention_bias", true),
                        .output_bias = from("attention_bias", true),
                        .sinks = true},
          .feed_forward = {.router_bias = always(), .expert_bias = always()},
          .layers = {alternating_windows(), listed_layer_types(), all_moe()},
          .ignores = {"swiglu_limit", "initial_context_length"}};
}

Family starcoder2() {
  return {.name = "starcoder2",
          .architectures = {"Starcoder2ForCausalLM"},
          .model_types = {"starcoder2"},
          .keys = {.activation = {"hidden_act"}},
          .defaults = {.hidden = 3072,
                       .layers = 30,
                       .heads = 24,
                       .kv_heads = 2,
                       .ffn = 12288,
                       .vocabulary = 49152,
                       .max_context = 4096,
                       .activation = "gelu_pytorch_tanh"},
          .norm = kLayerNorm,
          .attention = {.qkv_bias = from("use_bias", true), .output_bias = from("use_bias", true)},
          .feed_forward = {.gated = false, .bias = from("use_bias", true)},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {window_everywhere()},
          .expects = {{"mlp_type", "default"}, {"norm_type", "layer_norm"}},
          .ignores = {"activation_function", "attention_softmax_in_fp32",
                      "scale_attention_softmax_in_fp32", "norm_epsilon"}};
}

Family stablelm() {
  return {.name = "stablelm",
          .architectures = {"StableLmForCausalLM", "StableLMEpochForCausalLM"},
          .model_types = {"stablelm", "stablelm_epoch"},
          .defaults = {.hidden = 2560,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 32,
                       .ffn = 6912,
                       .vocabulary = 50304,
                       .max_context = 4096,
                       .rotary_fraction = 0.25},
          .norm = kLayerNorm,
          .parallel = from("use_parallel_residual"),
          .attention = {.qkv_bias = from("use_qkv_bias"),
                        .qk_norm = QkNorm::kEachHead,
                        .has_qk_norm = from("qk_layernorm"),
                        .rotary_fraction = {"partial_rotary_factor", "rope_pct",
                                            "rope_parameters.partial_rotary_factor"}},
          .ignores = {"rotary_scaling_factor", "norm_eps"}};
}

Family internlm2() {
  return {.name = "internlm2",
          .architectures = {"InternLM2ForCausalLM"},
          .model_types = {"internlm2"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 103168,
                       .max_context = 2048},
          .attention = {.qkv_bias = from("bias", true), .output_bias = from("bias", true)},
          .ignores = {"attn_implementation"}};
}

Family internlm3() {
  return {.name = "internlm3",
          .architectures = {"InternLM3ForCausalLM"},
          .model_types = {"internlm3"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 128512,
                       .max_context = 32768},
          .attention = {.qkv_bias = from("qkv_bias"), .output_bias = from("bias")},
          .feed_forward = {.bias = from("bias")}};
}

Family minicpm() {
  return {.name = "minicpm",
          .architectures = {"MiniCPMForCausalLM"},
          .model_types = {"minicpm"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 32000,
                       .max_context = 2048},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .head = {.tied = from("tie_word_embeddings", true)},
          .ignores = {"scale_emb", "scale_depth", "dim_model_base"},
          .notes = {"Scalar multipliers are folded into their neighbours."}};
}

/// MiniCPM 3: latent attention.
Family minicpm3() {
  return {.name = "minicpm3",
          .architectures = {"MiniCPM3ForCausalLM"},
          .model_types = {"minicpm3"},
          .keys = {.head_dim = {}},
          .defaults = {.hidden = 2560,
                       .layers = 62,
                       .heads = 40,
                       .ffn = 6400,
                       .vocabulary = 73448,
                       .max_context = 32768},
          .feed_forward = {.bias = from("mlp_bias")},
          .head = {.tied = from("tie_word_embeddings", true)},
          .latent = minicpm3_attention,
          .ignores = {"scale_emb", "scale_depth", "dim_model_base", "head_dim"},
          .notes = {"Scalar multipliers are folded into their neighbours."}};
}

Family orion() {
  return {.name = "orion",
          .architectures = {"OrionForCausalLM"},
          .model_types = {"orion"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 14592,
                       .vocabulary = 84608,
                       .max_context = 4096},
          .norm = kLayerNorm,
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")}};
}

/// Baichuan 1 and 2. The 13B models (5120 wide) have ALiBi instead of rotation.
Family baichuan() {
  return {.name = "baichuan",
          .architectures = {"BaichuanForCausalLM", "BaiChuanForCausalLM"},
          .model_types = {"baichuan"},
          .keys = {.max_context = {"max_position_embeddings", "model_max_length"}},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 64000,
                       .max_context = 4096},
          .adjust_layers =
              [](Config& /*config*/, std::vector<Layer>& layers) {
                for (Layer& layer : layers) {
                  auto& attention = std::get<Attention>(layer.mixer);
                  attention.rope_dims = attention.heads == 40 ? 0 : attention.rope_dims;
                }
              },
          .ignores = {"z_loss_weight", "gradient_checkpointing"}};
}

Family nemotron() {
  return {.name = "nemotron",
          .architectures = {"NemotronForCausalLM"},
          .model_types = {"nemotron"},
          .defaults = {.hidden = 6144,
                       .layers = 32,
                       .heads = 48,
                       .ffn = 24576,
                       .vocabulary = 256000,
                       .max_context = 4096,
                       .rotary_fraction = 0.5,
                       .activation = "relu2"},
          .norm = kLayerNorm,
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .rotary_fraction = {"partial_rotary_factor", "rope_percent",
                                            "rope_parameters.partial_rotary_factor"}},
          .feed_forward = {.gated = false, .bias = from("mlp_bias")}};
}

/// MiniMax-M2: norms over all heads together, a routing bias.
Family minimax_m2() {
  return {.name = "minimax_m2",
          .architectures = {"MiniMaxM2ForCausalLM"},
          .model_types = {"minimax_m2"},
          .keys = {.expert_width = {"intermediate_size"},
                   .shared_experts = {},
                   .shared_width = {"shared_intermediate_size"}},
          .attention = {.qk_norm = QkNorm::kFullWidth,
                        .has_qk_norm = from("use_qk_norm", true),
                        .rotary_dims = {"rotary_dim"}},
          .feed_forward = {.correction_bias = from("use_routing_bias", true)},
          .layers = {listed_mixers("attn_type_list", 0, MixerKind::kLinear), all_moe()},
          .expects = {{"qk_norm_type", "per_layer"},
                      {"attention_bias", "false"},
                      {"sliding_window", "null"}},
          .ignores = {"layernorm_full_attention_beta", "layernorm_linear_attention_beta",
                      "layernorm_mlp_beta", "mlp_intermediate_size", "shared_moe_mode",
                      "attn_window_size"},
          .notes = {"The multi-token-prediction modules are not counted."}};
}

/// MiniMax-Text-01 and M1: seven lightning attentions to one softmax attention.
Family minimax() {
  return {
      .name = "minimax",
      .architectures = {"MiniMaxText01ForCausalLM", "MiniMaxM1ForCausalLM", "MiniMaxForCausalLM"},
      .model_types = {"minimax_text_01", "minimax_m1", "minimax"},
      .keys = {.expert_width = {"intermediate_size"},
               .shared_experts = {},
               .shared_width = {"shared_intermediate_size"}},
      .attention = {.rotary_dims = {"rotary_dim"}},
      .layers = {listed_mixers("attn_type_list", 0, MixerKind::kLinear), listed_layer_types(),
                 all_moe()},
      .linear = lightning,
      .expects = {{"attention_bias", "false"}},
      .ignores = {"postnorm", "shared_moe_mode", "layernorm_full_attention_alpha",
                  "layernorm_full_attention_beta", "layernorm_linear_attention_alpha",
                  "layernorm_linear_attention_beta", "layernorm_mlp_alpha", "layernorm_mlp_beta",
                  "full_attn_alpha_factor", "full_attn_beta_factor", "linear_attn_alpha_factor",
                  "linear_attn_beta_factor", "mlp_alpha_factor", "mlp_beta_factor", "block_size"}};
}

/// Kimi delta attention in three layers of four, latent attention without rotation in the others.
Family kimi_linear() {
  return {.name = "kimi_linear",
          .architectures = {"KimiLinearForCausalLM"},
          .model_types = {"kimi_linear"},
          .keys = {.top_k = {"num_experts_per_token", "num_experts_per_tok"}},
          .feed_forward = {.correction_bias = always()},
          .layers = {linear_in("linear_attn_config.kda_layers"), listed_layer_types(),
                     moe_after_dense(), listed_feed_forwards()},
          .latent = latent_attention,
          .linear = kimi_delta,
          .expects = {{"moe_router_activation_func", "sigmoid"}},
          .ignores = {"head_dim", "linear_attn_config.full_attn_layers", "num_expert_group",
                      "use_grouped_topk", "moe_renormalize"}};
}

}  // namespace mansard::frontend::hf
