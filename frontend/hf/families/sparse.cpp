#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"
#include "frontend/hf/mixers.hpp"
#include "frontend/hf/rules.hpp"

/// Later families of experts.
namespace mansard::frontend::hf {

namespace {

/// A number of heads for each layer.
void set_heads_of_layers(Config& config, std::vector<Layer>& layers) {
  const std::vector<std::int64_t> heads = config.integers("num_attention_heads_per_layer");
  if (!heads.empty() && heads.size() != layers.size()) {
    config.refuse("config-layers", "num_attention_heads_per_layer does not name every layer",
                  config.find("num_attention_heads_per_layer")->location);
    return;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    auto* attention = std::get_if<Attention>(&layers[i].mixer);
    if (attention != nullptr && !heads.empty()) {
      attention->heads = heads[i];
    }
  }
}

/// A dense feed-forward beside the experts where residual_moe says so. Whether the head is tied is
/// not certain where the file does not say it.
void adjust_grok(Config& config, std::vector<Layer>& layers) {
  if (!config.mentions("tie_word_embeddings")) {
    config.refuse("config-missing", "expected tie_word_embeddings: grok files differ in it",
                  config.location());
  }
  for (Layer& layer : layers) {
    layer.one_norm = true;
  }
}

Rule experts_and_residual() {
  return [](Config& config, Plan& plan) {
    const bool both = config.boolean("residual_moe").value_or(false);
    for (LayerPlan& layer : plan) {
      layer.feed_forward = both ? FeedForwardKind::kBoth : FeedForwardKind::kMoe;
    }
  };
}

}  // namespace

/// Grok 1 and 2, in their transformers forms: norms before and after, gelu in gated experts.
Family grok() {
  return {.name = "grok",
          .architectures = {"Grok1ForCausalLM", "Grok1ModelForCausalLM"},
          .model_types = {"grok-1", "grok"},
          .keys = {.shared_experts = {}, .shared_width = {}},
          .defaults = {.max_context = 8192, .activation = "gelu"},
          .norms = NormPlacement::kSandwich,
          .layers = {experts_and_residual()},
          .adjust_layers = adjust_grok,
          .expects = {{"attention_bias", "false"}, {"global_attn_every_n", "1"}},
          .ignores = {"embedding_multiplier_scale", "output_multiplier_scale",
                      "attn_output_multiplier", "max_attn_value", "router_logit_softcapping",
                      "sliding_window_size", "attn_temperature_len", "scaling_factor", "rope_type",
                      "extrapolation_factor", "attn_factor", "beta_fast", "beta_slow"},
          .notes = {"Scalar multipliers and soft caps are folded into their neighbours."}};
}

/// Arcee's Trinity: gates on attention, norms before and after, windows but every fourth layer.
Family afmoe() {
  return {.name = "afmoe",
          .architectures = {"AfmoeForCausalLM"},
          .model_types = {"afmoe"},
          .defaults = {.hidden = 2048,
                       .layers = 32,
                       .heads = 16,
                       .head_dim = 128,
                       .ffn = 6144,
                       .vocabulary = 200192,
                       .max_context = 16384,
                       .window = 1024,
                       .experts = 64,
                       .top_k = 6,
                       .expert_width = 1408,
                       .shared_width = 2816},
          .norms = NormPlacement::kSandwich,
          .attention = {.qk_norm = QkNorm::kPerHead, .gate = OutputGate::kElementwise},
          .feed_forward = {.correction_bias = always()},
          .layers = {windows_but_every("global_attn_every_n_layers", 4), listed_layer_types(),
                     unrotated_where_full(), moe_after("num_dense_layers", 1)},
          .expects = {{"attention_bias", "false"}},
          .ignores = {"mup_enabled", "route_norm", "load_balance_coeff", "use_grouped_mm",
                      "num_limited_groups", "num_expert_groups", "moe_type"}};
}

/// Solar Open: GLM-4.5's experts in every layer.
Family solar_open() {
  return {.name = "solar_open",
          .architectures = {"SolarOpenForCausalLM"},
          .model_types = {"solar_open"},
          .defaults = {.hidden = 4096,
                       .layers = 48,
                       .heads = 64,
                       .kv_heads = 8,
                       .head_dim = 128,
                       .vocabulary = 196608,
                       .max_context = 131072,
                       .experts = 128,
                       .top_k = 8,
                       .expert_width = 1280,
                       .shared_width = 1280},
          .attention = {.qkv_bias = from("attention_bias")},
          .feed_forward = {.correction_bias = always()},
          .layers = {all_moe()},
          .expects = {{"use_qk_norm", "false"}, {"first_k_dense_replace", "0"}},
          .ignores = {"intermediate_size"}};
}

/// K-EXAONE: EXAONE 4's attention with norms before, experts after the first layer.
Family exaone_moe() {
  return {.name = "exaone_moe",
          .architectures = {"ExaoneMoeForCausalLM", "ExaoneMoEForCausalLM"},
          .model_types = {"exaone_moe"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 16384,
                       .vocabulary = 102400,
                       .max_context = 2048,
                       .window = 4096,
                       .experts = 64,
                       .top_k = 8,
                       .expert_width = 1024,
                       .shared_width = 1024},
          .attention = {.qk_norm = QkNorm::kPerHead},
          .feed_forward = {.correction_bias = always()},
          .layers = {windows_but_every({}, 4), listed_layer_types(), unrotated_where_full(),
                     moe_after_dense(1), listed_feed_forwards()},
          .expects = {{"attention_bias", "false"}},
          .ignores = {"sliding_window_pattern", "is_moe_layer", "topk_method",
                      "first_last_k_dense_replace"}};
}

/// Poolside's Laguna: a gate per head, heads that may differ between layers.
Family laguna() {
  return {.name = "laguna",
          .architectures = {"LagunaForCausalLM"},
          .model_types = {"laguna"},
          .keys = {.shared_experts = {}},
          .defaults = {.hidden = 2048,
                       .layers = 40,
                       .heads = 48,
                       .kv_heads = 8,
                       .head_dim = 128,
                       .ffn = 8192,
                       .vocabulary = 100352,
                       .max_context = 131072,
                       .window = 512,
                       .experts = 256,
                       .top_k = 8,
                       .expert_width = 512,
                       .shared_width = 512},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead,
                        .gate = OutputGate::kPerHead},
          .feed_forward = {.correction_bias = always()},
          .layers = {listed_layer_types(), moe_after({}, 1), listed_feed_forwards()},
          .adjust_layers = set_heads_of_layers,
          .expects = {{"gating", "true"}},
          .ignores = {"sliding_window", "moe_routed_scaling_factor",
                      "moe_apply_router_weight_on_input", "moe_router_logit_softcapping"}};
}

/// The text model of Aria: shared experts beside the routed ones, as one feed-forward.
Family aria_text() {
  return {.name = "aria_text",
          .architectures = {"AriaTextForCausalLM"},
          .model_types = {"aria_text", "aria_moe_lm"},
          .keys = {.experts = {"moe_num_experts"},
                   .top_k = {"moe_topk"},
                   .expert_width = {"moe_intermediate_size", "intermediate_size"},
                   .shared_experts = {"moe_num_shared_experts"}},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 4096,
                       .vocabulary = 32000,
                       .max_context = 2048,
                       .experts = 8,
                       .top_k = 2,
                       .shared_width = 8192},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .layers = {all_moe()},
          .expects = {{"mlp_bias", "false"}}};
}

/// Ling and Ring before 2.0.
Family bailing_moe() {
  return {
      .name = "bailing_moe",
      .architectures = {"BailingMoeForCausalLM"},
      .model_types = {"bailing_moe"},
      .attention = {.qkv_bias = from("use_qkv_bias")},
      .layers = {moe_after_dense()},
      .expects = {{"norm_head", "false"}, {"use_qk_norm", "false"}, {"use_bias", "false"}},
      .ignores = {"norm_softmax", "max_window_layers", "moe_layer_freq_all", "embedding_dropout",
                  "output_dropout", "sliding_window", "use_sliding_window"}};
}

/// Ling and Ring 2.0: norms on queries and keys, a bias in the choice of experts.
Family bailing_moe_v2() {
  return {
      .name = "bailing_moe_v2",
      .architectures = {"BailingMoeV2ForCausalLM"},
      .model_types = {"bailing_moe_v2"},
      .keys = {.shared_width = {}},
      .attention = {.qkv_bias = from("use_qkv_bias"),
                    .qk_norm = QkNorm::kPerHead,
                    .has_qk_norm = from("use_qk_norm", true)},
      .feed_forward = {.correction_bias = from("moe_router_enable_expert_bias", true)},
      .layers = {moe_after_dense()},
      .expects = {{"norm_head", "false"}, {"use_sliding_window", "false"}, {"use_bias", "false"}},
      .ignores = {"norm_softmax", "moe_shared_expert_intermediate_size", "embedding_dropout",
                  "output_dropout", "rotary_dim", "use_rmsnorm"},
      .notes = {"The multi-token-prediction layers are not counted."}};
}

/// Mistral 4: DeepSeek's latent attention, softmax routing without a bias.
Family mistral4() {
  return {.name = "mistral4",
          .architectures = {"Mistral4ForCausalLM"},
          .model_types = {"mistral4"},
          .defaults = {.hidden = 4096,
                       .layers = 36,
                       .heads = 32,
                       .ffn = 12288,
                       .vocabulary = 131072,
                       .max_context = 1048576,
                       .experts = 128,
                       .top_k = 4,
                       .expert_width = 2048},
          .layers = {moe_after_dense()},
          .latent = latent_attention,
          .ignores = {"head_dim"}};
}

/// Youtu-LLM: DeepSeek's latent attention, dense.
Family youtu() {
  return {.name = "youtu",
          .architectures = {"YoutuForCausalLM"},
          .model_types = {"youtu"},
          .keys = {.head_dim = {}},
          .defaults = {.hidden = 2048,
                       .layers = 32,
                       .heads = 16,
                       .ffn = 6144,
                       .vocabulary = 128256,
                       .max_context = 131072},
          .head = {.tied = from("tie_word_embeddings", true)},
          .latent = latent_attention,
          .expects = {{"mlp_bias", "false"}},
          .ignores = {"head_dim", "embedding_initializer_range"}};
}

/// Hunyuan 3: Qwen3's attention with DeepSeek-V3's experts.
Family hy_v3() {
  return {.name = "hy_v3",
          .architectures = {"HYV3ForCausalLM"},
          .model_types = {"hy_v3"},
          .keys = {.expert_width = {"moe_intermediate_size", "expert_hidden_dim"}},
          .defaults = {.hidden = 4096,
                       .layers = 80,
                       .heads = 64,
                       .kv_heads = 8,
                       .head_dim = 128,
                       .ffn = 13312,
                       .vocabulary = 120832,
                       .max_context = 131072,
                       .experts = 192,
                       .top_k = 8,
                       .expert_width = 1536,
                       .shared_width = 1536},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead,
                        .has_qk_norm = from("qk_norm", true)},
          .feed_forward = {.correction_bias = from("moe_router_enable_expert_bias", true)},
          .layers = {moe_after("first_k_dense_replace", 1), listed_feed_forwards()},
          .expects = {{"mlp_bias", "false"}, {"moe_router_use_sigmoid", "true"}},
          .ignores = {"enable_moe_fp32_combine", "route_norm", "enable_attention_fp32_softmax"},
          .notes = {"The multi-token-prediction layers are not counted."}};
}

/// Mellum 2: Qwen3's attention and experts, windows on some layers.
Family mellum() {
  return {.name = "mellum",
          .architectures = {"MellumForCausalLM"},
          .model_types = {"mellum"},
          .keys = {.shared_experts = {}, .shared_width = {}},
          .defaults = {.hidden = 2304,
                       .layers = 28,
                       .heads = 32,
                       .kv_heads = 4,
                       .head_dim = 128,
                       .ffn = 7168,
                       .vocabulary = 98304,
                       .max_context = 131072,
                       .window = 1024,
                       .experts = 64,
                       .top_k = 8,
                       .expert_width = 896},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead},
          .layers = {listed_layer_types(), all_moe(), listed_feed_forwards()},
          .ignores = {"sliding_window", "use_sliding_window", "max_window_layers",
                      "intermediate_size"}};
}

/// Command A+ and later: Cohere 2's parallel layers with experts.
Family cohere2_moe() {
  return {
      .name = "cohere2_moe",
      .architectures = {"Cohere2MoeForCausalLM"},
      .model_types = {"cohere2_moe"},
      .keys = {.ffn = {"prefix_dense_intermediate_size"}, .expert_width = {"intermediate_size"}},
      .defaults = {.hidden = 8192,
                   .layers = 40,
                   .heads = 64,
                   .head_dim = 128,
                   .ffn = 22528,
                   .vocabulary = 256000,
                   .max_context = 8192,
                   .window = 4096,
                   .experts = 8,
                   .top_k = 2,
                   .expert_width = 22528},
      .norm = {.layer = true, .gain = true, .bias = false},
      .parallel = always(),
      .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
      .head = {.tied = from("tie_word_embeddings", true)},
      .layers = {windows_but_every("sliding_window_pattern", 4), listed_layer_types(),
                 unrotated_where_full(), all_moe(), listed_feed_forwards()},
      .expects = {{"first_k_dense_replace", "0"}},
      .ignores = {"shared_expert_combination_strategy", "expert_selection_fn",
                  "prefix_dense_sliding_window_pattern", "rotary_pct"}};
}

}  // namespace mansard::frontend::hf
