#include <fmt/format.h>

#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

/// Dense and experts in one layer, where the model has experts.
Rule both_if(std::string_view key) {
  return [key](Config& config, Plan& plan) {
    if (config.boolean(key).value_or(false)) {
      for (LayerPlan& layer : plan) {
        layer.feed_forward = FeedForwardKind::kBoth;
      }
    }
  };
}

Rule last_is_full() {
  return [](Config&, Plan& plan) {
    if (!plan.empty()) {
      plan.back().mixer = MixerKind::kFull;
    }
  };
}

/// Full layers have larger heads, fewer KV heads, and may use keys as values.
void widen_full(Config& config, Attention& attention) {
  const bool keys_are_values = config.boolean("attention_k_eq_v").value_or(false);
  const auto kv_heads = config.integer({"num_global_key_value_heads"});
  attention.head_dim = config.integer({"global_head_dim"}).value_or(512);
  attention.value_dim = attention.head_dim;
  attention.rope_dims = attention.head_dim / 4;
  attention.kv_heads = keys_are_values ? kv_heads.value_or(attention.kv_heads) : attention.kv_heads;
  attention.key_is_value = keys_are_values;
}

void adjust_attention(Config& config, Attention& attention, bool shares_cache) {
  if (attention.span == Span::kFull) {
    widen_full(config, attention);
  }
  attention.value_norm = true;
  attention.shares_cache = shares_cache;
}

/// per_layer_config, as newer files have it: what differs from layer to layer, by its number.
void override_layers(Config& config, std::vector<Layer>& layers) {
  const Node* overrides = config.find("per_layer_config");
  if (overrides == nullptr || !overrides->is_mapping()) {
    return;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Node* own = overrides->find(fmt::format("{:02}", i));
    auto* attention = std::get_if<Attention>(&layers[i].mixer);
    if (own == nullptr || !own->is_mapping() || attention == nullptr) {
      continue;
    }
    for (const Node::Entry& entry : own->entries) {
      const auto value = entry.value.as_integer();
      const bool known = entry.key == "head_dim" || entry.key == "num_key_value_heads";
      if (!known || !value || *value < 1 || *value > kMostLayers * kMostLayers) {
        config.refuse("config-key",
                      fmt::format("per_layer_config.{} of gemma4 is not understood", entry.key),
                      entry.key_location);
      } else if (entry.key == "head_dim") {
        attention->head_dim = *value;
        attention->value_dim = *value;
      } else {
        attention->kv_heads = *value;
      }
    }
  }
}

void adjust_gemma4(Config& config, std::vector<Layer>& layers) {
  const auto shared = config.integer({"num_kv_shared_layers"}).value_or(0);
  const bool wide = config.boolean("use_double_wide_mlp").value_or(false);
  const auto input = config.integer({"hidden_size_per_layer_input"}).value_or(256);
  const auto own = static_cast<std::int64_t>(layers.size()) - shared;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Layer& layer = layers[i];
    const bool shares = shared > 0 && static_cast<std::int64_t>(i) >= own;
    if (auto* attention = std::get_if<Attention>(&layer.mixer)) {
      adjust_attention(config, *attention, shares);
    }
    if (layer.dense && wide && shares) {
      layer.dense->width *= 2;
    }
    if (layer.moe) {
      layer.moe->router_scale = true;
    }
    layer.layer_input = input;
  }
  override_layers(config, layers);
}

void adjust_model(Config& config, Architecture& architecture) {
  const auto input = config.integer({"hidden_size_per_layer_input"}).value_or(256);
  const auto rows = required(config, {"vocab_size_per_layer_input"}, 262144);
  architecture.layer_input_vocabulary = input > 0 ? rows : 0;
}

}  // namespace

/// Gemma 4: gemma 3 with larger heads in full layers, shared caches, embeddings for each layer (E
/// models) and experts beside the dense feed-forward (26B-A4B).
Family gemma4() {
  return {.name = "gemma4",
          .architectures = {"Gemma4ForCausalLM", "Gemma4ForConditionalGeneration"},
          .model_types = {"gemma4", "gemma4_text"},
          .keys = {.top_k = {"top_k_experts"}, .shared_experts = {}, .shared_width = {}},
          .defaults = {.hidden = 2304,
                       .layers = 30,
                       .heads = 8,
                       .kv_heads = 4,
                       .head_dim = 256,
                       .ffn = 9216,
                       .vocabulary = 262144,
                       .max_context = 131072,
                       .window = 512,
                       .activation = "gelu_pytorch_tanh"},
          .norms = NormPlacement::kSandwich,
          .attention = {.qkv_bias = from("attention_bias"),
                        .output_bias = from("attention_bias"),
                        .qk_norm = QkNorm::kPerHead,
                        .rotary_fraction = {}},
          .head = {.tied = from("tie_word_embeddings", true)},
          .layers = {windows_but_every({}, 6), listed_layer_types(), last_is_full(),
                     both_if("enable_moe_block")},
          .adjust_layers = adjust_gemma4,
          .adjust = adjust_model,
          .ignores = {"use_bidirectional_attention"},
          .notes = {"Embedding scaling, soft caps and layer scalars are folded into their "
                    "neighbours."}};
}

}  // namespace mansard::frontend::hf
