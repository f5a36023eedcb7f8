#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

constexpr Defaults kLlama2 = {.hidden = 4096,
                              .layers = 32,
                              .heads = 32,
                              .ffn = 11008,
                              .vocabulary = 32000,
                              .max_context = 2048};

/// Queries and keys of layers without rotation are not normalised.
void no_norm_without_rotation(Config& /*config*/, std::vector<Layer>& layers) {
  for (Layer& layer : layers) {
    auto* attention = std::get_if<Attention>(&layer.mixer);
    if (attention != nullptr && attention->rope_dims == 0) {
      attention->qk_norm = QkNorm::kNone;
    }
  }
}

}  // namespace

/// Llama 1 to 3.3, CodeLlama, Yi, TinyLlama, SmolLM, granite-code, DeepSeek-LLM and many more.
Family llama() {
  return {.name = "llama",
          .architectures = {"LlamaForCausalLM", "LLaMAForCausalLM", "YiForCausalLM",
                            "AquilaForCausalLM", "AquilaModel", "VLlama3ForCausalLM"},
          .model_types = {"llama", "Yi", "aquila"},
          .defaults = kLlama2,
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .feed_forward = {.bias = from("mlp_bias")},
          .expects = {{"qk_layer_norms", "false"}, {"use_resampler", "false"}},
          .ignores = {"bias", "rotary", "perceiver_config", "pixel_shuffle_factor"}};
}

/// InternLM 1 as its own class: Llama with biases in attention.
Family internlm() {
  return {.name = "internlm",
          .architectures = {"InternLMForCausalLM"},
          .model_types = {"internlm"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 103168,
                       .max_context = 2048},
          .attention = {.qkv_bias = from("bias", true), .output_bias = from("bias", true)},
          .ignores = {"rotary"}};
}

/// Text model of Scout and Maverick: chunked attention with rotation, every fourth layer full
/// without; a shared expert.
Family llama4() {
  return {.name = "llama4",
          .architectures = {"Llama4ForConditionalGeneration", "Llama4ForCausalLM"},
          .model_types = {"llama4", "llama4_text"},
          .keys = {.ffn = {"intermediate_size_mlp"},
                   .expert_width = {"intermediate_size"},
                   .shared_experts = {},
                   .shared_width = {"intermediate_size"}},
          .defaults = {.hidden = 5120,
                       .layers = 48,
                       .heads = 40,
                       .kv_heads = 8,
                       .head_dim = 128,
                       .ffn = 16384,
                       .vocabulary = 202048,
                       .max_context = 131072,
                       .chunk = 8192,
                       .experts = 16,
                       .top_k = 1,
                       .expert_width = 8192,
                       .shared_width = 8192},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kWithoutGain,
                        .has_qk_norm = from("use_qk_norm", true)},
          .layers = {unrotated_layers("no_rope_layers", "no_rope_layer_interval", 4),
                     chunks_where_rotated(8192), moe_every("interleave_moe_layer_step", 1),
                     moe_in("moe_layers")},
          .adjust_layers = no_norm_without_rotation,
          .ignores = {"layer_types", "attn_temperature_tuning", "attn_scale", "floor_scale"}};
}

Family smollm3() {
  return {.name = "smollm3",
          .architectures = {"SmolLM3ForCausalLM"},
          .model_types = {"smollm3"},
          .defaults = {.hidden = 2048,
                       .layers = 36,
                       .heads = 16,
                       .kv_heads = 4,
                       .ffn = 11008,
                       .vocabulary = 128256,
                       .max_context = 32768},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .feed_forward = {.bias = from("mlp_bias")},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {switched_window(), listed_layer_types(),
                     unrotated_layers("no_rope_layers", "no_rope_layer_interval", 4)}};
}

/// Llama with a squared-ReLU feed-forward of two matrices.
Family arcee() {
  return {.name = "arcee",
          .architectures = {"ArceeForCausalLM"},
          .model_types = {"arcee"},
          .defaults = {.hidden = 2560,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 18432,
                       .vocabulary = 32000,
                       .max_context = 4096,
                       .activation = "relu2"},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .feed_forward = {.gated = false, .bias = from("mlp_bias")}};
}

Family seed_oss() {
  return {.name = "seed_oss",
          .architectures = {"SeedOssForCausalLM"},
          .model_types = {"seed_oss"},
          .defaults = {.hidden = 4096,
                       .layers = 64,
                       .heads = 80,
                       .kv_heads = 8,
                       .head_dim = 128,
                       .ffn = 27648,
                       .vocabulary = 155136,
                       .max_context = 524288},
          .attention = {.qkv_bias = from("attention_bias", true),
                        .output_bias = from("attention_out_bias")},
          .feed_forward = {.bias = from("mlp_bias")},
          .ignores = {"attention_out_dropout"}};
}

}  // namespace mansard::frontend::hf
