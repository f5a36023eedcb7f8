#include "frontend/hf/families/families.hpp"
#include "frontend/hf/mixers.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

/// intermediate_size is the sum of both gated halves.
void halve_width(Config& /*config*/, std::vector<Layer>& layers) {
  for (Layer& layer : layers) {
    if (layer.dense) {
      layer.dense->width /= 2;
    }
  }
}

}  // namespace

Family qwen() {
  return {.name = "qwen",
          .architectures = {"QWenLMHeadModel"},
          .model_types = {"qwen"},
          .keys = {.head_dim = {"kv_channels"}, .vocabulary = {"vocab_size", "padded_vocab_size"}},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .head_dim = 128,
                       .ffn = 22016,
                       .vocabulary = 151936,
                       .max_context = 8192},
          .attention = {.qkv_bias = always(), .rotary_fraction = {"rotary_pct"}},
          .layers = {},
          .adjust_layers = halve_width,
          .expects = {{"no_bias", "true"}},
          .ignores = {"rotary_emb_base", "use_dynamic_ntk", "use_logn_attn", "use_flash_attn",
                      "softmax_in_fp32", "use_cache_quantization", "use_cache_kernel"}};
}

/// Also the text models of Qwen2-VL and Qwen2.5-VL, whose keys may stand at the top.
Family qwen2() {
  return {.name = "qwen2",
          .architectures = {"Qwen2ForCausalLM", "Qwen2VLForConditionalGeneration",
                            "Qwen2_5_VLForConditionalGeneration"},
          .model_types = {"qwen2", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text",
                          "qwen2_5_omni_text", "qwen2_5_omni_thinker"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 32,
                       .ffn = 22016,
                       .vocabulary = 151936,
                       .max_context = 32768,
                       .window = 4096},
          .attention = {.qkv_bias = always()},
          .layers = {switched_window(), listed_layer_types()},
          .expects = {{"mlp_bias", "false"}},
          .ignores = {"attention_bias"}};
}

Family qwen2_moe() {
  return {.name = "qwen2_moe",
          .architectures = {"Qwen2MoeForCausalLM"},
          .model_types = {"qwen2_moe"},
          .keys = {.shared_experts = {}},
          .defaults = {.hidden = 2048,
                       .layers = 24,
                       .heads = 16,
                       .kv_heads = 16,
                       .ffn = 5632,
                       .vocabulary = 151936,
                       .max_context = 32768,
                       .window = 4096,
                       .experts = 60,
                       .top_k = 4,
                       .expert_width = 1408,
                       .shared_width = 5632},
          .attention = {.qkv_bias = from("qkv_bias", true)},
          .feed_forward = {.shared_gate = always()},
          .layers = {switched_window(), listed_layer_types(), moe_by_sparse_step()}};
}

/// Also the text model of Qwen3-VL.
Family qwen3() {
  return {.name = "qwen3",
          .architectures = {"Qwen3ForCausalLM", "Qwen3VLForConditionalGeneration"},
          .model_types = {"qwen3", "qwen3_vl", "qwen3_vl_text"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 32,
                       .head_dim = 128,
                       .ffn = 22016,
                       .vocabulary = 151936,
                       .max_context = 32768,
                       .window = 4096},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead},
          .layers = {switched_window(), listed_layer_types()},
          .expects = {{"mlp_bias", "false"}}};
}

/// Also the text models of Qwen3-VL MoE and of Qwen3-Omni's thinker.
Family qwen3_moe() {
  return {.name = "qwen3_moe",
          .architectures = {"Qwen3MoeForCausalLM", "Qwen3VLMoeForConditionalGeneration",
                            "Qwen3OmniMoeForConditionalGeneration"},
          .model_types = {"qwen3_moe", "qwen3_vl_moe", "qwen3_vl_moe_text", "qwen3_omni_moe_text"},
          .keys = {.shared_experts = {}, .shared_width = {}},
          .defaults = {.hidden = 2048,
                       .layers = 24,
                       .heads = 32,
                       .kv_heads = 4,
                       .ffn = 6144,
                       .vocabulary = 151936,
                       .max_context = 32768,
                       .window = 4096,
                       .experts = 128,
                       .top_k = 8,
                       .expert_width = 768},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead},
          .layers = {switched_window(), listed_layer_types(), moe_by_sparse_step()}};
}

/// Three gated delta nets to one gated attention; many small experts and a gated shared one.
Family qwen3_next() {
  return {.name = "qwen3_next",
          .architectures = {"Qwen3NextForCausalLM"},
          .model_types = {"qwen3_next"},
          .keys = {.shared_experts = {}},
          .defaults = {.hidden = 2048,
                       .layers = 48,
                       .heads = 16,
                       .kv_heads = 2,
                       .head_dim = 256,
                       .ffn = 5632,
                       .vocabulary = 151936,
                       .max_context = 32768,
                       .experts = 512,
                       .top_k = 10,
                       .expert_width = 512,
                       .shared_width = 512,
                       .rotary_fraction = 0.25},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead,
                        .gate = OutputGate::kElementwise},
          .feed_forward = {.shared_gate = always()},
          .layers = {linear_but_every("full_attention_interval", 4), listed_layer_types(),
                     moe_by_sparse_step()},
          .linear = gated_delta_net,
          .expects = {{"use_sliding_window", "false"}},
          .notes = {"The checkpoint's multi-token-prediction module is not counted."}};
}

namespace {

/// What the dense and the MoE models of Qwen3.5 share.
Family qwen3_5_base() {
  return {.defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 16,
                       .kv_heads = 4,
                       .head_dim = 256,
                       .ffn = 12288,
                       .vocabulary = 248320,
                       .max_context = 32768,
                       .rotary_fraction = 0.25},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead,
                        .gate = OutputGate::kElementwise},
          .linear = gated_delta_net,
          .expects = {{"attn_output_gate", "true"}, {"use_sliding_window", "false"}},
          .notes = {"The checkpoint's multi-token-prediction module is not counted."}};
}

}  // namespace

Family qwen3_5() {
  Family family = qwen3_5_base();
  family.name = "qwen3_5";
  family.architectures = {"Qwen3_5ForConditionalGeneration", "Qwen3_5ForCausalLM"};
  family.model_types = {"qwen3_5", "qwen3_5_text"};
  family.layers = {linear_but_every("full_attention_interval", 4), listed_layer_types()};
  return family;
}

Family qwen3_5_moe() {
  Family family = qwen3_5_base();
  family.name = "qwen3_5_moe";
  family.architectures = {"Qwen3_5MoeForConditionalGeneration", "Qwen3_5MoeForCausalLM"};
  family.model_types = {"qwen3_5_moe", "qwen3_5_moe_text"};
  family.keys.shared_experts = {};
  family.defaults = {.hidden = 2048,
                     .layers = 40,
                     .heads = 16,
                     .kv_heads = 2,
                     .head_dim = 256,
                     .vocabulary = 248320,
                     .max_context = 32768,
                     .experts = 256,
                     .top_k = 8,
                     .expert_width = 512,
                     .shared_width = 512,
                     .rotary_fraction = 0.25};
  family.feed_forward.shared_gate = always();
  family.layers = {linear_but_every("full_attention_interval", 4), listed_layer_types(),
                   moe_by_sparse_step()};
  return family;
}

}  // namespace mansard::frontend::hf
