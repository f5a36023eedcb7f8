#include "frontend/hf/families/families.hpp"
#include "frontend/hf/mixers.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

Family glm_base() {
  return {.defaults = {.hidden = 4096,
                       .layers = 40,
                       .heads = 32,
                       .kv_heads = 2,
                       .head_dim = 128,
                       .ffn = 13696,
                       .vocabulary = 151552,
                       .max_context = 131072,
                       .rotary_fraction = 0.5},
          .attention = {.qkv_bias = from("attention_bias")}};
}

/// glm-5.2: a layer marked "shared" attends to what an earlier layer's indexer chose.
void share_indexers(Config& config, std::vector<Layer>& layers) {
  const std::vector<std::string> kinds = config.strings("indexer_types");
  for (std::size_t i = 0; i < kinds.size() && i < layers.size(); ++i) {
    auto* latent = std::get_if<Mla>(&layers[i].mixer);
    if (latent != nullptr && latent->index) {
      latent->index->shared = kinds[i] == "shared";
    }
  }
}

}  // namespace

/// GLM-4-9B in transformers' own classes.
Family glm() {
  Family family = glm_base();
  family.name = "glm";
  family.architectures = {"GlmForCausalLM"};
  family.model_types = {"glm"};
  return family;
}

/// GLM-4-0414: norms before and after.
Family glm4() {
  Family family = glm_base();
  family.name = "glm4";
  family.architectures = {"Glm4ForCausalLM"};
  family.model_types = {"glm4"};
  family.norms = NormPlacement::kSandwich;
  return family;
}

/// The text model of GLM-4.1V and GLM-4.6V-Flash: GLM-4 with biases on queries, keys and values.
Family glm4v() {
  Family family = glm4();
  family.name = "glm4v";
  family.architectures = {"Glm4vForConditionalGeneration", "Glm46VForConditionalGeneration"};
  family.model_types = {"glm4v", "glm4v_text", "glm46v"};
  family.attention.qkv_bias = from("attention_bias", true);
  return family;
}

/// GLM-4.5, 4.6, 4.7 and the text model of GLM-4.5V. attention_bias is that of queries, keys and
/// values.
Family glm4_moe() {
  return {.name = "glm4_moe",
          .architectures = {"Glm4MoeForCausalLM", "Glm4vMoeForConditionalGeneration"},
          .model_types = {"glm4_moe", "glm4v_moe", "glm4v_moe_text"},
          .defaults = {.hidden = 4096,
                       .layers = 46,
                       .heads = 96,
                       .kv_heads = 8,
                       .ffn = 10944,
                       .vocabulary = 151552,
                       .max_context = 131072,
                       .experts = 128,
                       .top_k = 8,
                       .expert_width = 1408,
                       .rotary_fraction = 0.5},
          .attention = {.qkv_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead,
                        .has_qk_norm = from("use_qk_norm")},
          .feed_forward = {.correction_bias = always()},
          .layers = {moe_after_dense(1)},
          .notes = {"The checkpoint's multi-token-prediction module is not counted."}};
}

/// GLM-4.7-Flash: latent attention with GLM's experts.
Family glm4_moe_lite() {
  return {.name = "glm4_moe_lite",
          .architectures = {"Glm4MoeLiteForCausalLM"},
          .model_types = {"glm4_moe_lite"},
          .feed_forward = {.correction_bias = always()},
          .layers = {moe_after_dense(1), listed_feed_forwards()},
          .latent = latent_attention,
          .ignores = {"head_dim", "topk_method", "partial_rotary_factor"}};
}

/// GLM-5: DeepSeek's latent and sparse attention.
Family glm_moe_dsa() {
  return {.name = "glm_moe_dsa",
          .architectures = {"GlmMoeDsaForCausalLM"},
          .model_types = {"glm_moe_dsa"},
          .feed_forward = {.correction_bias = always()},
          .layers = {listed_layer_types(), moe_after_dense(3), listed_feed_forwards()},
          .latent = latent_attention,
          .adjust_layers = share_indexers,
          .expects = {{"topk_method", "noaux_tc"}, {"mlp_bias", "false"}},
          .ignores = {"head_dim", "partial_rotary_factor", "indexer_rope_interleave"},
          .notes = {"The checkpoint's multi-token-prediction module is not counted."}};
}

/// ChatGLM 2 and 3, GLM-4-9B in their own classes.
Family chatglm() {
  return {
      .name = "chatglm",
      .architectures = {"ChatGLMModel", "ChatGLMForConditionalGeneration"},
      .model_types = {"chatglm"},
      .keys = {.kv_heads = {"multi_query_group_num"},
               .head_dim = {"kv_channels"},
               .ffn = {"ffn_hidden_size"},
               .vocabulary = {"padded_vocab_size", "vocab_size"}},
      .defaults = {.rotary_fraction = 0.5},
      .attention = {.qkv_bias = from("add_qkv_bias", true), .output_bias = from("add_bias_linear")},
      .feed_forward = {.bias = from("add_bias_linear")},
      .expects = {{"multi_query_attention", "true"},
                  {"rmsnorm", "true"},
                  {"post_layer_norm", "true"},
                  {"apply_residual_connection_post_layernorm", "false"},
                  {"original_rope", "true"}},
      .ignores = {"apply_query_key_layer_scaling", "rope_ratio", "pre_seq_len", "prefix_projection",
                  "attention_softmax_in_fp32", "fp32_residual_connection", "bias_dropout_fusion",
                  "interleaved_qkv", "quantization_bit"}};
}

}  // namespace mansard::frontend::hf
