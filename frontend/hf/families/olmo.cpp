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
