#include "frontend/hf/quantization.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "frontend/hf/quantization_scheme.hpp"

namespace mansard::frontend::hf {

namespace {

const ir::Dtype* stored_type(Config& config) {
  const auto older = config.string("torch_dtype");
  const auto newer = config.string("dtype");
  const std::string name = newer ? *newer : older.value_or("auto");
  if (name == "auto") {
    config.note("The config states no torch_dtype: weights are taken as bf16.");
    return ir::find_dtype("bf16");
  }
  const std::string word = name.starts_with("torch.") ? name.substr(6) : name;
  if (word == "float32" || word == "bfloat16" || word == "float16") {
    return ir::find_dtype(word);
  }
  const Node* node = config.find(newer ? "dtype" : "torch_dtype");
  config.refuse("config-dtype", fmt::format("torch_dtype '{}' is not known", word.substr(0, 40)),
                node->location, "known: float32, bfloat16, float16");
  return ir::find_dtype("bf16");
}

/// Names that one set of modules goes by, every one of which must be excluded for the role to be.
using Modules = std::vector<std::string_view>;

/// The modules of a role, in each spelling that checkpoints use; fused ones too.
struct RoleModules {
  WeightRole role;
  std::vector<Modules> spellings;
};

const std::vector<RoleModules>& role_modules() {
  static const std::vector<RoleModules> list = {
      {WeightRole::kQkv,
       {{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
        {"self_attn.qkv_proj"},
        {"self_attn.kv_a_proj_with_mqa", "self_attn.kv_b_proj"},
        {"self_attn.fused_qkv_a_proj", "self_attn.kv_b_proj"},
        {"mixer.q_proj", "mixer.k_proj", "mixer.v_proj"},
        {"attn.qkv_proj"},
        {"attention.wqkv"}}},
      {WeightRole::kOutput,
       {{"self_attn.o_proj"},
        {"linear_attn.out_proj"},
        {"mixer.o_proj"},
        {"mixer.out_proj"},
        {"mamba.out_proj"},
        {"attention.wo"}}},
      {WeightRole::kMixer,
       {{"linear_attn.in_proj_qkvz"},
        {"linear_attn.in_proj_qkv", "linear_attn.in_proj_z"},
        {"mixer.in_proj"},
        {"mamba.in_proj"}}},
      {WeightRole::kDense,
       {{"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"},
        {"mlp.gate_up_proj", "mlp.down_proj"},
        {"mixer.up_proj", "mixer.down_proj"},
        {"feed_forward.gate_proj", "feed_forward.up_proj", "feed_forward.down_proj"},
        {"feed_forward.w1", "feed_forward.w2", "feed_forward.w3"}}},
      {WeightRole::kExperts,
       {{"mlp.experts.0.gate_proj", "mlp.experts.0.up_proj", "mlp.experts.0.down_proj"},
        {"mlp.experts.gate_up_proj", "mlp.experts.down_proj"},
        {"block_sparse_moe.experts.0.w1", "block_sparse_moe.experts.0.w2"},
        {"mixer.experts.0.up_proj", "mixer.experts.0.down_proj"},
        {"feed_forward.experts.gate_up_proj", "feed_forward.experts.down_proj"}}},
      {WeightRole::kShared,
       {{"mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj",
         "mlp.shared_experts.down_proj"},
        {"mlp.shared_expert.gate_proj", "mlp.shared_expert.up_proj", "mlp.shared_expert.down_proj"},
        {"mixer.shared_experts.up_proj", "mixer.shared_experts.down_proj"},
        {"feed_forward.shared_expert.gate_proj", "feed_forward.shared_expert.down_proj"}}},
      {WeightRole::kIndexer, {{"self_attn.indexer.wq_b"}}},
  };
  return list;
}

/// Where checkpoints keep their layers. The first counts always, the others if some pattern
/// mentions their first word.
constexpr std::array<std::string_view, 4> kPrefixes = {
    "model.layers.", "language_model.model.layers.", "model.language_model.layers.",
    "backbone.layers."};

/// Answers, for a scheme, how the modules of a role of one layer are stored.
class FormatFinder {
 public:
  explicit FormatFinder(const QuantizationScheme& scheme) : scheme_(&scheme) {
    prefixes_.push_back(kPrefixes[0]);
    if (mentions("language_model")) {
      prefixes_.insert(prefixes_.end(), {kPrefixes[1], kPrefixes[2]});
    }
    if (mentions("backbone")) {
      prefixes_.push_back(kPrefixes[3]);
    }
  }

  [[nodiscard]] const QuantizedFormat* find(const RoleModules& role, std::size_t layer) const {
    if (scheme_->experts_only && role.role != WeightRole::kExperts) {
      return nullptr;
    }
    if (!scheme_->ignored.empty() && names(scheme_->ignored, role, layer)) {
      return nullptr;
    }
    const QuantizedFormat* general = nullptr;
    for (const QuantizedGroup& group : scheme_->groups) {
      if (!group.modules.empty() && names(group.modules, role, layer)) {
        return &group.format;
      }
      general = group.all ? &group.format : general;
    }
    return general;
  }

 private:
  [[nodiscard]] bool mentions(std::string_view word) const {
    return scheme_->ignored.mentions(word) ||
           std::ranges::any_of(scheme_->groups, [&](const QuantizedGroup& group) {
             return group.modules.mentions(word);
           });
  }

  /// Whether the set names the role's modules of that layer in any spelling.
  [[nodiscard]] bool names(const ModuleSet& set, const RoleModules& role, std::size_t layer) const {
    return std::ranges::any_of(prefixes_, [&](std::string_view start) {
      const std::string prefix = fmt::format("{}{}.", start, layer);
      return std::ranges::any_of(
          role.spellings, [&](const Modules& modules) { return all_match(set, prefix, modules); });
    });
  }

  static bool all_match(const ModuleSet& set, const std::string& prefix, const Modules& modules) {
    return std::ranges::all_of(modules, [&](std::string_view module) {
      return set.matches(prefix + std::string(module));
    });
  }

  const QuantizationScheme* scheme_;
  std::vector<std::string_view> prefixes_;
};

void quantize_head(const QuantizationScheme& scheme, Architecture& architecture) {
  const bool ignored =
      scheme.ignored.matches("lm_head") || scheme.ignored.matches("language_model.lm_head");
  if (!scheme.includes_head || ignored || architecture.tied) {
    return;
  }
  for (const QuantizedGroup& group : scheme.groups) {
    if (group.all || group.modules.matches("lm_head")) {
      architecture.formats.set(WeightRole::kHead, group.format.weights, group.format.inputs);
    }
  }
}

/// Layers times tokens of patterns: some twenty times what published files need, and still a
/// moment.
constexpr std::size_t kMostWork = 10'000'000;

bool is_too_much(const QuantizationScheme& scheme, std::size_t layers) {
  std::size_t cost = scheme.ignored.cost();
  for (const QuantizedGroup& group : scheme.groups) {
    cost += group.modules.cost();
  }
  return cost > kMostWork / std::max<std::size_t>(layers, 1);
}

}  // namespace

void read_formats(Config& config, std::vector<Layer>& layers, Architecture& architecture) {
  architecture.weights = stored_type(config);
  architecture.activations = architecture.weights;
  architecture.kv = architecture.weights;
  const auto scheme = read_quantization(config);
  if (!scheme) {
    return;
  }
  architecture.kv = scheme->kv != nullptr ? scheme->kv : architecture.kv;
  if (is_too_much(*scheme, layers.size())) {
    config.refuse("config-quantization", "more patterns of modules than any published file has",
                  config.location());
    return;
  }
  const FormatFinder finder(*scheme);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const RoleModules& role : role_modules()) {
      if (const QuantizedFormat* format = finder.find(role, i)) {
        layers[i].formats.set(role.role, format->weights, format->inputs);
      }
    }
  }
  quantize_head(*scheme, architecture);
}

}  // namespace mansard::frontend::hf
