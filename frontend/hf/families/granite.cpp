#include "frontend/hf/families/families.hpp"
#include "frontend/hf/mixers.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

constexpr std::string_view kMultipliers = "Scalar multipliers are folded into their neighbours.";

/// Without experts, the shared feed-forward is the layer's only one.
void share_feed_forward(Config& config, std::vector<Layer>& layers) {
  const auto shared = config.integer({"shared_intermediate_size"}).value_or(1024);
  (void)config.integer({"num_experts_per_tok"});
  for (Layer& layer : layers) {
    if (layer.dense) {
      layer.dense->width = shared;
    }
  }
}

void unrotate_unless_rope(Config& config, std::vector<Layer>& layers) {
  const bool rotates = config.string("position_embedding_type").value_or("") == "rope";
  for (Layer& layer : layers) {
    if (auto* attention = std::get_if<Attention>(&layer.mixer)) {
      attention->rope_dims = rotates ? attention->rope_dims : 0;
    }
  }
}

Family granitemoe_base() {
  return {.keys = {.expert_width = {"intermediate_size"}, .shared_experts = {}, .shared_width = {}},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 32000,
                       .max_context = 2048,
                       .experts = 8,
                       .top_k = 2},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .layers = {all_moe()},
          .expects = {{"normalization_function", "rmsnorm"}},
          .ignores = {"init_method"},
          .notes = {kMultipliers}};
}

}  // namespace

Family granite() {
  return {.name = "granite",
          .architectures = {"GraniteForCausalLM"},
          .model_types = {"granite"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .ffn = 11008,
                       .vocabulary = 32000,
                       .max_context = 2048},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .feed_forward = {.bias = from("mlp_bias")},
          .notes = {kMultipliers}};
}

/// Granite with sinks, and a window on three layers of four.
Family granite_swa() {
  Family family = granite();
  family.name = "granite_swa";
  family.architectures = {"GraniteSWAForCausalLM"};
  family.model_types = {"granite_swa"};
  family.defaults = {.hidden = 2560,
                     .layers = 24,
                     .heads = 20,
                     .kv_heads = 4,
                     .ffn = 8192,
                     .vocabulary = 100352,
                     .max_context = 8192,
                     .window = 128};
  family.attention.sinks = true;
  family.head.tied = from("tie_word_embeddings", true);
  family.layers = {windows_but_first_of(4), listed_layer_types()};
  family.ignores = {"layer_rope_theta"};
  return family;
}

Family granitemoe() {
  Family family = granitemoe_base();
  family.name = "granitemoe";
  family.architectures = {"GraniteMoeForCausalLM"};
  family.model_types = {"granitemoe"};
  return family;
}

Family granitemoeshared() {
  Family family = granitemoe_base();
  family.name = "granitemoeshared";
  family.architectures = {"GraniteMoeSharedForCausalLM"};
  family.model_types = {"granitemoeshared"};
  family.keys.shared_width = {"shared_intermediate_size"};
  return family;
}

Family granitemoe_swa() {
  Family family = granitemoeshared();
  family.name = "granitemoe_swa";
  family.architectures = {"GraniteMoeSWAForCausalLM"};
  family.model_types = {"granitemoe_swa"};
  family.defaults.window = 128;
  family.attention.sinks = true;
  family.layers = {windows_but_first_of(4), listed_layer_types(), all_moe()};
  family.ignores = {"layer_rope_theta", "init_method"};
  return family;
}

/// Granite 4: mamba 2 and attention layers, each with experts and a shared feed-forward, or with
/// that alone.
Family granitemoehybrid() {
  Family family = granitemoe_base();
  family.name = "granitemoehybrid";
  family.architectures = {"GraniteMoeHybridForCausalLM"};
  family.model_types = {"granitemoehybrid"};
  family.keys.shared_width = {"shared_intermediate_size"};
  family.defaults.shared_width = 1024;
  family.layers = {listed_layer_types("layers_block_type"), listed_layer_types(),
                   moe_if_experts(8)};
  family.mamba = granite_mamba;
  family.adjust_layers = [](Config& config, std::vector<Layer>& layers) {
    share_feed_forward(config, layers);
    unrotate_unless_rope(config, layers);
  };
  return family;
}

/// Bamba: mamba 2 with attention at listed layers, dense.
Family bamba() {
  return {.name = "bamba",
          .architectures = {"BambaForCausalLM"},
          .model_types = {"bamba"},
          .defaults = {.hidden = 4096,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 8,
                       .ffn = 14336,
                       .vocabulary = 128000,
                       .max_context = 262144,
                       .rotary_fraction = 0.5},
          .attention = {.rotary_dims = {"attn_rotary_emb"}},
          .layers = {attention_only_in("attn_layer_indices")},
          .mamba = granite_mamba,
          .expects = {{"attention_bias", "false"}, {"mlp_bias", "false"}}};
}

}  // namespace mansard::frontend::hf
