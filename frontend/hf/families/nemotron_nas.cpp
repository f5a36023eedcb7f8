#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/hf/describe.hpp"
#include "frontend/hf/families/families.hpp"

namespace mansard::frontend::hf {

namespace {

constexpr auto kAttentionKeys = std::to_array<std::string_view>(
    {"n_heads_in_group", "no_op", "replace_with_linear", "window_length", "num_sink_tokens",
     "sparsify", "unshifted_sink", "use_prefill_window_in_sink_attention"});
constexpr auto kFfnKeys = std::to_array<std::string_view>(
    {"ffn_mult", "intermediate_size", "no_op", "replace_with_linear", "sparsify"});

/// block_configs: what a search kept of each layer of a Llama.
class BlockConfigs {
 public:
  BlockConfigs(Config& config, std::vector<Layer>& layers) : config_(config), layers_(layers) {}

  void apply() {
    const Node* blocks = config_.find("block_configs");
    if (blocks == nullptr || !blocks->is_sequence() || blocks->items.size() != layers_.size()) {
      config_.refuse("config-layers",
                     fmt::format("expected block_configs with {} entries", layers_.size()),
                     blocks != nullptr ? blocks->location : config_.location());
      return;
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      apply_attention(blocks->items[i], layers_[i]);
      apply_ffn(blocks->items[i], layers_[i]);
    }
  }

 private:
  static bool is_true(const Node& object, std::string_view key) {
    const Node* node = object.find(key);
    return node != nullptr && node->as_bool().value_or(false);
  }
  static const Node* present(const Node& object, std::string_view key) {
    const Node* node = object.find(key);
    return node != nullptr && !node->is_null() ? node : nullptr;
  }

  const Node* part(const Node& block, std::string_view key,
                   std::span<const std::string_view> known) {
    const Node* part = block.is_mapping() ? block.find(key) : nullptr;
    if (part == nullptr || !part->is_mapping()) {
      config_.refuse("config-layers", fmt::format("expected an object {}", key), block.location);
      return nullptr;
    }
    for (const Node::Entry& entry : part->entries) {
      if (std::ranges::find(known, entry.key) == known.end() && !entry.value.is_null()) {
        config_.refuse(
            "config-key",
            fmt::format("key {} of a block's {} is not understood and may change the graph",
                        entry.key.substr(0, 60), key),
            entry.key_location);
      }
    }
    return part;
  }

  void apply_attention(const Node& block, Layer& layer) {
    const Node* part = this->part(block, "attention", kAttentionKeys);
    if (part == nullptr) {
      return;
    }
    if (is_true(*part, "no_op")) {
      layer.mixer = {};
      return;
    }
    if (is_true(*part, "replace_with_linear")) {
      layer.mixer = LinearMap{};
      return;
    }
    auto& attention = std::get<Attention>(layer.mixer);
    const Node* group = present(*part, "n_heads_in_group");
    const std::int64_t size = group != nullptr ? group->as_integer().value_or(0) : 0;
    if (size < 1 || attention.heads % size != 0) {
      config_.refuse("config-heads", "expected n_heads_in_group that divides the heads",
                     group != nullptr ? group->location : part->location);
      return;
    }
    attention.kv_heads = attention.heads / size;
    if (const Node* window = present(*part, "window_length")) {
      attention.span = Span::kWindow;
      attention.reach = std::max<std::int64_t>(window->as_integer().value_or(1), 1);
    }
  }

  void apply_ffn(const Node& block, Layer& layer) {
    const Node* part = this->part(block, "ffn", kFfnKeys);
    if (part == nullptr) {
      return;
    }
    if (is_true(*part, "no_op")) {
      layer.dense.reset();
      return;
    }
    if (layer.dense) {
      layer.dense->width = is_true(*part, "replace_with_linear") ? 0 : width_of(*part);
    }
  }

  /// At least 1; refused otherwise.
  std::int64_t width_of(const Node& part) {
    const Node* width = present(part, "intermediate_size");
    const Node* multiple = present(part, "ffn_mult");
    const double factor = multiple != nullptr ? multiple->as_number().value_or(0) : 0;
    std::int64_t result = 0;
    if (width != nullptr) {
      result = width->as_integer().value_or(0);
    } else if (factor > 0 && factor < 1000) {
      // Two thirds of the multiple, rounded up to 256, as in the class.
      const auto wanted = static_cast<std::int64_t>(2 * factor * static_cast<double>(hidden()) / 3);
      result = (wanted + 255) / 256 * 256;
    }
    if (result < 1 || result > kWidest) {
      config_.refuse("config-layers", "expected ffn_mult or intermediate_size above 0",
                     part.location);
      return 1;
    }
    return result;
  }

  std::int64_t hidden() { return required(config_, {"hidden_size"}, 8192); }

  static constexpr std::int64_t kWidest = std::int64_t{1} << 40;
  Config& config_;
  std::vector<Layer>& layers_;
};

void state_kv_heads(Config& /*config*/, Architecture& architecture) {
  // They differ from layer to layer; the facts have no single number for them.
  architecture.kv_heads = architecture.heads;
}

}  // namespace

/// Llama-Nemotron (51B, Super, Ultra): Llama whose layers a search thinned out one by one.
Family nemotron_nas() {
  return {.name = "nemotron_nas",
          .architectures = {"DeciLMForCausalLM"},
          .model_types = {"nemotron-nas"},
          .defaults = {.hidden = 8192, .layers = 80, .heads = 64, .ffn = 28672},
          .attention = {.qkv_bias = from("attention_bias"), .output_bias = from("attention_bias")},
          .feed_forward = {.bias = from("mlp_bias")},
          .adjust_layers = [](Config& config,
                              std::vector<Layer>& layers) { BlockConfigs(config, layers).apply(); },
          .adjust = state_kv_heads};
}

}  // namespace mansard::frontend::hf
