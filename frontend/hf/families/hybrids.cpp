#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"
#include "frontend/hf/mixers.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

void set_sinks(Attention* attention, bool sinks) {
  if (attention != nullptr) {
    attention->sinks = sinks;
  }
}

/// MiMo-V2: layers with a window have heads of their own, and sinks.
void adjust_mimo_v2(Config& config, std::vector<Layer>& layers) {
  const bool sinks = config.boolean("add_swa_attention_sink_bias").value_or(false);
  const bool full_sinks = config.boolean("add_full_attention_sink_bias").value_or(false);
  const auto heads = config.integer({"swa_num_attention_heads"});
  const auto kv_heads = config.integer({"swa_num_key_value_heads"});
  const auto head_dim = config.integer({"swa_head_dim"});
  const auto value_dim = config.integer({"swa_v_head_dim"});
  for (Layer& layer : layers) {
    auto* attention = std::get_if<Attention>(&layer.mixer);
    if (attention == nullptr || attention->span == Span::kFull) {
      set_sinks(attention, full_sinks);
      continue;
    }
    attention->heads = heads.value_or(attention->heads);
    attention->kv_heads = kv_heads.value_or(attention->kv_heads);
    attention->head_dim = head_dim.value_or(attention->head_dim);
    attention->value_dim = value_dim.value_or(attention->value_dim);
    attention->sinks = sinks;
  }
}

/// Step-3.5: layers of one kind have other heads, some gates are per head.
void adjust_step3p5(Config& config, std::vector<Layer>& layers) {
  const bool gated = config.boolean("use_head_wise_attn_gate").value_or(false);
  const auto kind = config.string("attention_other_setting.attention_type").value_or("");
  const auto heads = config.integer({"attention_other_setting.num_attention_heads"});
  const auto kv_heads = config.integer({"attention_other_setting.num_attention_groups"});
  const auto head_dim = config.integer({"attention_other_setting.head_dim"});
  for (Layer& layer : layers) {
    auto* attention = std::get_if<Attention>(&layer.mixer);
    if (attention == nullptr) {
      continue;
    }
    attention->gate = gated ? OutputGate::kPerHead : OutputGate::kNone;
    const bool sliding = attention->span == Span::kWindow;
    if (kind == (sliding ? "sliding_attention" : "full_attention")) {
      attention->heads = heads.value_or(attention->heads);
      attention->kv_heads = kv_heads.value_or(attention->kv_heads);
      attention->head_dim = head_dim.value_or(attention->head_dim);
      attention->value_dim = attention->head_dim;
    }
  }
}

/// Layers that a comma-separated list names have experts; without the list, all but the first.
Rule moe_in_text(std::string_view key) {
  return [key](Config& config, Plan& plan) {
    const auto text = config.string(key);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const std::string padded = "," + text.value_or("") + ",";
      const bool named = padded.find("," + std::to_string(i) + ",") != std::string::npos;
      const bool moe = text ? named : i > 0;
      plan[i].feed_forward = moe ? FeedForwardKind::kMoe : FeedForwardKind::kDense;
    }
  };
}

/// LFM2 rounds two thirds of its feed-forward width up, unless told not to.
void adjust_lfm2(Config& config, std::vector<Layer>& layers) {
  const bool adjusts = config.boolean("block_auto_adjust_ff_dim").value_or(true);
  const double multiplier = config.number("block_ffn_dim_multiplier").value_or(1.0);
  const auto multiple = required(config, {"block_multiple_of"}, 256);
  for (Layer& layer : layers) {
    if (!layer.dense || !adjusts) {
      continue;
    }
    const std::int64_t two_thirds = 2 * layer.dense->width / 3;
    const auto scaled = static_cast<std::int64_t>(multiplier * static_cast<double>(two_thirds));
    layer.dense->width = (scaled + multiple - 1) / multiple * multiple;
  }
}

Rule attention_in_else_convolution(std::string_view key) {
  return [key](Config& config, Plan& plan) {
    for (LayerPlan& layer : plan) {
      layer.mixer = MixerKind::kLinear;
    }
    for (const std::int64_t full : config.integers(key)) {
      if (static_cast<std::size_t>(full) < plan.size()) {
        plan[static_cast<std::size_t>(full)].mixer = MixerKind::kFull;
      }
    }
  };
}

Family lfm2_base() {
  return {.keys = {.ffn = {"block_ff_dim", "intermediate_size"},
                   .shared_experts = {},
                   .activation = {}},
          .defaults = {.hidden = 2560,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 8,
                       .ffn = 12288,
                       .vocabulary = 65536,
                       .max_context = 128000},
          .attention = {.qk_norm = QkNorm::kPerHead},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {attention_in_else_convolution("full_attn_idxs"), listed_layer_types()},
          .linear = short_convolution,
          .ignores = {"tie_embedding", "block_dim", "conv_dim", "conv_dim_out", "block_norm_eps",
                      "block_use_swiglu", "block_use_xavier_init", "block_mlp_init_scale",
                      "block_out_init_scale", "conv_use_xavier_init", "conv_bias", "conv_L_cache",
                      "num_heads", "use_pos_enc", "theta"}};
}

}  // namespace

Family mimo() {
  return {.name = "mimo",
          .architectures = {"MiMoForCausalLM"},
          .model_types = {"mimo"},
          .defaults = {.window = 4096},
          .attention = {.qkv_bias = from("attention_bias", true)},
          .layers = {switched_window()},
          .notes = {"The multi-token-prediction layers are not counted."}};
}

Family mimo_v2() {
  return {
      .name = "mimo_v2",
      .architectures = {"MiMoV2FlashForCausalLM"},
      .model_types = {"mimo_v2_flash"},
      .keys = {.value_dim = {"v_head_dim"}, .window = {"sliding_window", "sliding_window_size"}},
      .attention = {.qkv_bias = from("attention_bias")},
      .feed_forward = {.correction_bias = always()},
      .layers = {listed_mixers("hybrid_layer_pattern", 1, MixerKind::kSliding), moe_after_dense()},
      .adjust_layers = adjust_mimo_v2,
      .expects = {{"topk_method", "noaux_tc"}},
      .ignores = {"attention_chunk_size", "hybrid_block_size"},
      .notes = {"The multi-token-prediction layers are not counted."}};
}

Family step3p5() {
  return {.name = "step3p5",
          .architectures = {"Step3p5ForCausalLM"},
          .model_types = {"step3p5"},
          .keys = {.kv_heads = {"num_attention_groups", "num_key_value_heads"},
                   .experts = {"moe_num_experts", "num_experts"},
                   .top_k = {"moe_top_k", "num_experts_per_tok"},
                   .shared_experts = {},
                   .shared_width = {"share_expert_dim"}},
          .attention = {.qkv_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead,
                        .rotary_fraction = {}},
          .feed_forward = {.correction_bias = from("use_moe_router_bias", true)},
          .layers = {listed_layer_types(), moe_in_text("moe_layers_enum")},
          .adjust_layers = adjust_step3p5,
          .expects = {{"att_impl_type", "GQA"},
                      {"use_qk_norm", "true"},
                      {"use_moe", "true"},
                      {"moe_layer_offset", "0"}},
          .ignores = {"attention_other_setting.true_head_dim", "partial_rotary_factors",
                      "yarn_only_types", "swiglu_limits", "swiglu_limits_shared", "need_fp32_gate",
                      "norm_expert_weight", "moe_router_activation", "moe_router_scaling_factor",
                      "use_rope_layers", "zero_centered", "moe_every_n_layer", "sink",
                      "share_expert_dims"},
          .notes = {"The multi-token-prediction layers are not counted."}};
}

Family lfm2() {
  Family family = lfm2_base();
  family.name = "lfm2";
  family.architectures = {"Lfm2ForCausalLM"};
  family.model_types = {"lfm2"};
  family.adjust_layers = adjust_lfm2;
  return family;
}

Family lfm2_moe() {
  Family family = lfm2_base();
  family.name = "lfm2_moe";
  family.architectures = {"Lfm2MoeForCausalLM"};
  family.model_types = {"lfm2_moe"};
  family.feed_forward.correction_bias = from("use_expert_bias", true);
  family.layers.push_back(moe_after("num_dense_layers", 2));
  return family;
}

}  // namespace mansard::frontend::hf
