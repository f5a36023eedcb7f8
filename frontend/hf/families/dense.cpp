#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

/// Without ALiBi, MPT learns its positions.
void adjust_mpt(Config& config, Architecture& architecture) {
  architecture.alibi = config.boolean("attn_config.alibi").value_or(false);
  const bool learned = config.boolean("learned_pos_emb").value_or(true);
  architecture.positions = learned && !architecture.alibi ? architecture.max_context : 0;
}

void widen_mpt(Config& config, std::vector<Layer>& layers) {
  const bool one = config.string("attn_config.attn_type").value_or("") == "multiquery_attention";
  const auto ratio = required(config, {"expansion_ratio"}, 4);
  const auto hidden = required(config, {"d_model"}, 2048);
  for (Layer& layer : layers) {
    auto& attention = std::get<Attention>(layer.mixer);
    attention.kv_heads = one ? 1 : attention.kv_heads;
    if (layer.dense) {
      layer.dense->width = ratio * hidden;
    }
  }
}

/// Only a model that has windows leaves its full layers unrotated.
Rule unrotated_where_full_beside_windows() {
  return [](Config& config, Plan& plan) {
    if (config.integer({"sliding_window"}).value_or(0) > 0) {
      unrotated_where_full()(config, plan);
    }
  };
}

}  // namespace

Family mpt() {
  return {.name = "mpt",
          .architectures = {"MPTForCausalLM", "MptForCausalLM"},
          .model_types = {"mpt"},
          .keys = {.kv_heads = {"attn_config.kv_n_heads"}, .ffn = {}},
          .defaults = {.hidden = 2048,
                       .layers = 24,
                       .heads = 16,
                       .vocabulary = 50368,
                       .max_context = 2048,
                       .ffn_per_hidden = 4,
                       .activation = "gelu"},
          .norm = {.layer = true, .gain = true, .bias = false},
          .attention = {.qk_norm = QkNorm::kFullWidth,
                        .has_qk_norm = from("attn_config.qk_ln"),
                        .rope = false},
          .feed_forward = {.gated = false},
          .head = {.tied = from("tie_word_embeddings", true)},
          .adjust_layers = widen_mpt,
          .adjust = adjust_mpt,
          .expects = {{"no_bias", "true"},
                      {"attn_config.prefix_lm", "false"},
                      {"attn_config.rope", "false"}},
          .ignores = {"attn_config.alibi_bias_max", "attn_config.attn_impl",
                      "attn_config.attn_pdrop", "attn_config.attn_uses_sequence_id",
                      "attn_config.clip_qkv", "attn_config.softmax_scale", "attn_config.model_type",
                      "embedding_fraction", "norm_type", "attn_config.is_encoder_decoder",
                      "use_pad_tok_in_ffn", "ffn_config", "fc_type", "logit_scale"}};
}

Family exaone() {
  return {.name = "exaone",
          .architectures = {"ExaoneForCausalLM"},
          .model_types = {"exaone"},
          .head = {.tied = from("tie_word_embeddings", true)},
          .ignores = {"embed_dropout"}};
}

/// EXAONE 4: norms after, norms on queries and keys; three windows to one full layer in the larger
/// models.
Family exaone4() {
  return {.name = "exaone4",
          .architectures = {"Exaone4ForCausalLM"},
          .model_types = {"exaone4"},
          .norms = NormPlacement::kPost,
          .attention = {.qk_norm = QkNorm::kPerHead},
          .layers = {listed_layer_types(), unrotated_where_full_beside_windows()},
          .expects = {{"attention_bias", "false"}},
          .ignores = {"sliding_window_pattern"}};
}

}  // namespace mansard::frontend::hf
