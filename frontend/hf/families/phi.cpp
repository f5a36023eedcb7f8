#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

constexpr Norm kLayerNorm = {.layer = true, .gain = true, .bias = true};

}  // namespace

/// Phi-1, 1.5 and 2, in their first classes (n_embd, rotary_dim) and in transformers' own.
Family phi() {
  return {
      .name = "phi",
      .architectures = {"PhiForCausalLM", "MixFormerSequentialForCausalLM"},
      .model_types = {"phi", "phi-msft", "mixformer-sequential"},
      .keys = {.kv_heads = {"num_key_value_heads", "n_head_kv"},
               .ffn = {"intermediate_size", "n_inner"}},
      .defaults = {.hidden = 2048,
                   .layers = 24,
                   .heads = 32,
                   .vocabulary = 51200,
                   .max_context = 2048,
                   .ffn_per_hidden = 4,
                   .rotary_fraction = 0.5,
                   .activation = "gelu_new"},
      .norm = kLayerNorm,
      .parallel = always(),
      .attention = {.qkv_bias = always(), .output_bias = always(), .rotary_dims = {"rotary_dim"}},
      .feed_forward = {.gated = false, .bias = always()},
      .head = {.tied = from("tie_word_embeddings"), .bias = always()},
      .expects = {{"qk_layernorm", "false"}},
      .ignores = {"fused_dense", "flash_attn", "flash_rotary", "architecture", "phyagi_version"}};
}

/// Phi-3, Phi-3.5, Phi-4, Phi-4-mini and the text model of Phi-3-vision.
Family phi3() {
  return {
      .name = "phi3",
      .architectures = {"Phi3ForCausalLM", "Phi3VForCausalLM", "Phi4MMForCausalLM",
                        "Phi4MultimodalForCausalLM"},
      .model_types = {"phi3", "phi3_v", "phi4mm", "phi4_multimodal"},
      .defaults = {.hidden = 3072,
                   .layers = 32,
                   .heads = 32,
                   .ffn = 8192,
                   .vocabulary = 32064,
                   .max_context = 4096},
      .layers = {window_everywhere()},
      .expects = {{"attention_bias", "false"}, {"mlp_bias", "false"}, {"lm_head_bias", "false"}},
      .ignores = {"full_attn_mod", "interpolate_factor", "img_processor", "embd_layer",
                  "prefill_chunk_size", "context_window_size"}};
}

/// Phi-3.5-MoE: LayerNorms and biases around Mixtral's experts.
Family phimoe() {
  return {.name = "phimoe",
          .architectures = {"PhimoeForCausalLM", "PhiMoEForCausalLM"},
          .model_types = {"phimoe"},
          .keys = {.expert_width = {"intermediate_size"}, .shared_experts = {}},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 8,
                       .ffn = 6400,
                       .vocabulary = 32064,
                       .max_context = 131072,
                       .experts = 16,
                       .top_k = 2},
          .norm = kLayerNorm,
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .head = {.tied = from("tie_word_embeddings"), .bias = from("lm_head_bias")},
          .layers = {window_everywhere(), all_moe()}};
}

}  // namespace mansard::frontend::hf
