#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

/// OLMo 1: LayerNorms without parameters.
Family olmo() {
  return {.name = "olmo",
          .architectures = {"OlmoForCausalLM"},
          .model_types = {"olmo"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 50304,
                       .max_context = 2048},
          .norm = {.layer = true, .gain = false, .bias = false},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .ignores = {"clip_qkv"}};
}

namespace {

Family olmo2_base() {
  return {.defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 50304,
                       .max_context = 2048,
                       .window = 4096},
          .norms = NormPlacement::kPost,
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kFullWidth}};
}

}  // namespace

Family olmo2() {
  Family family = olmo2_base();
  family.name = "olmo2";
  family.architectures = {"Olmo2ForCausalLM"};
  family.model_types = {"olmo2"};
  return family;
}

/// OLMo 3: OLMo 2 with windows on three layers of four.
Family olmo3() {
  Family family = olmo2_base();
  family.name = "olmo3";
  family.architectures = {"Olmo3ForCausalLM"};
  family.model_types = {"olmo3"};
  family.layers = {windows_but_every({}, 4), listed_layer_types()};
  return family;
}

/// FlexOlmo: OLMo 2 with experts in every layer.
Family flex_olmo() {
  Family family = olmo2_base();
  family.name = "flex_olmo";
  family.architectures = {"FlexOlmoForCausalLM"};
  family.model_types = {"flex_olmo"};
  family.keys.expert_width = {"intermediate_size"};
  family.keys.shared_experts = {};
  family.defaults.vocabulary = 100352;
  family.defaults.max_context = 4096;
  family.defaults.experts = 7;
  family.defaults.top_k = 5;
  family.layers = {all_moe()};
  return family;
}

namespace {

/// Linear layers have their norms before, full ones after; positions only where the file has rope.
void adjust_olmo_hybrid(Config& config, std::vector<Layer>& layers) {
  const bool rotates =
      config.find("rope_theta") != nullptr || config.find("rope_parameters.rope_theta") != nullptr;
  for (Layer& layer : layers) {
    auto* attention = std::get_if<Attention>(&layer.mixer);
    layer.norms = attention != nullptr ? NormPlacement::kPost : NormPlacement::kPre;
    if (attention != nullptr && !rotates) {
      attention->rope_dims = 0;
    }
  }
}

Mixer olmo_delta_net(Config& config, const Sizes& sizes) {
  const auto key_dim =
      required(config, {"linear_key_head_dim"}, sizes.hidden * 3 / 4 / sizes.heads);
  return LinearAttention{.kind = LinearAttention::Kind::kGatedDeltaNet,
                         .key_heads = required(config, {"linear_num_key_heads"}, sizes.heads),
                         .value_heads = required(config, {"linear_num_value_heads"}, sizes.heads),
                         .key_dim = key_dim,
                         .value_dim = required(config, {"linear_value_head_dim"}, 2 * key_dim),
                         .taps = required(config, {"linear_conv_kernel_dim"}, 4)};
}

}  // namespace

/// OLMo Hybrid: three gated delta nets to one full attention.
Family olmo_hybrid() {
  Family family = olmo2_base();
  family.name = "olmo_hybrid";
  family.architectures = {"OlmoHybridForCausalLM"};
  family.model_types = {"olmo_hybrid"};
  family.defaults = {.hidden = 3840,
                     .layers = 32,
                     .heads = 30,
                     .ffn = 11008,
                     .vocabulary = 100352,
                     .max_context = 65536};
  family.layers = {linear_but_every({}, 4), listed_layer_types()};
  family.linear = olmo_delta_net;
  family.adjust_layers = adjust_olmo_hybrid;
  family.ignores = {"linear_a_log_min",
                    "linear_a_log_max",
                    "linear_dt_min",
                    "linear_dt_max",
                    "linear_dt_init_floor",
                    "linear_allow_neg_eigval",
                    "fla_hybrid_attention_indices"};
  return family;
}

Family olmoe() {
  return {.name = "olmoe",
          .architectures = {"OlmoeForCausalLM"},
          .model_types = {"olmoe"},
          .keys = {.expert_width = {"intermediate_size"}, .shared_experts = {}},
          .defaults = {.hidden = 2048,
                       .layers = 16,
                       .heads = 16,
                       .ffn = 2048,
                       .vocabulary = 50304,
                       .max_context = 4096,
                       .experts = 64,
                       .top_k = 8},
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kFullWidth},
          .layers = {all_moe()},
          .ignores = {"clip_qkv"}};
}

}  // namespace mansard::frontend::hf
