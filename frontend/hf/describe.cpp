#include "frontend/hf/describe.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/hf/quantization.hpp"

namespace mansard::frontend::hf {

namespace {

std::int64_t or_default(Config& config, const KeyList& spellings, std::int64_t otherwise) {
  return config.integer(spellings).value_or(otherwise);
}

std::int64_t layer_count(const Family& family, Config& config) {
  const std::int64_t layers = or_default(config, family.keys.layers, family.defaults.layers);
  if (layers > kMostLayers) {
    config.refuse("config-layers", fmt::format("{} layers are more than {}", layers, kMostLayers),
                  config.find(family.keys.layers)->location);
    return 0;
  }
  return layers;
}

Plan plan_layers(const Family& family, Config& config) {
  Plan plan(static_cast<std::size_t>(layer_count(family, config)));
  for (const Rule& rule : family.layers) {
    rule(config, plan);
  }
  for (LayerPlan& layer : plan) {
    // Newer files call any recurrent layer linear attention.
    if (layer.mixer == MixerKind::kLinear && !family.linear && family.mamba) {
      layer.mixer = MixerKind::kMamba;
    }
  }
  if (plan.empty() && config.diagnostics().empty()) {
    (void)required(config, family.keys.layers);
  }
  return plan;
}

bool has_attention(const Plan& plan) {
  return std::ranges::any_of(plan, [](const LayerPlan& layer) {
    return layer.mixer != MixerKind::kMamba && layer.mixer != MixerKind::kNone;
  });
}

bool has(const Plan& plan, FeedForwardKind a, FeedForwardKind b) {
  return std::ranges::any_of(plan, [&](const LayerPlan& layer) {
    return layer.feed_forward == a || layer.feed_forward == b;
  });
}

void read_heads(const Family& family, Config& config, Sizes& sizes) {
  const Defaults& defaults = family.defaults;
  sizes.heads = required(config, family.keys.heads, defaults.heads);
  const auto otherwise = defaults.kv_heads != 0 ? defaults.kv_heads : sizes.heads;
  sizes.kv_heads = required(config, family.keys.kv_heads, otherwise);
  const std::int64_t derived = sizes.hidden / std::max<std::int64_t>(sizes.heads, 1);
  const std::int64_t silent = defaults.head_dim != 0 ? defaults.head_dim : derived;
  const std::int64_t stated = or_default(config, family.keys.head_dim, 0);
  sizes.head_dim = stated > 0 ? stated : silent;
  if (sizes.head_dim == 0 || sizes.heads % std::max<std::int64_t>(sizes.kv_heads, 1) != 0) {
    config.refuse("config-heads",
                  fmt::format("{} query heads over {} KV heads, hidden size {}", sizes.heads,
                              sizes.kv_heads, sizes.hidden),
                  config.location(), "heads must be a multiple of KV heads");
  }
}

/// A model without attention may still carry its class's keys of it.
void ignore_attention(const Family& family, Config& config) {
  const AttentionTraits& traits = family.attention;
  for (const KeyList* keys : {&family.keys.heads, &family.keys.kv_heads, &family.keys.head_dim,
                              &traits.rotary_fraction, &traits.rotary_dims}) {
    for (const std::string_view key : *keys) {
      config.ignore({key});
    }
  }
  config.ignore({traits.qkv_bias.key, traits.output_bias.key, traits.has_qk_norm.key});
}

Sizes read_sizes(const Family& family, Config& config, const Plan& plan) {
  Sizes sizes;
  sizes.layers = static_cast<std::int64_t>(plan.size());
  sizes.hidden = required(config, family.keys.hidden, family.defaults.hidden);
  if (has_attention(plan)) {
    read_heads(family, config, sizes);
  } else {
    ignore_attention(family, config);
  }
  const std::int64_t multiple = family.defaults.ffn_per_hidden * sizes.hidden;
  const std::int64_t otherwise = family.defaults.ffn != 0 ? family.defaults.ffn : multiple;
  sizes.ffn = or_default(config, family.keys.ffn, otherwise);
  if (has(plan, FeedForwardKind::kDense, FeedForwardKind::kBoth)) {
    sizes.ffn = required(config, family.keys.ffn, otherwise);
  }
  return sizes;
}

std::int64_t rotary_dims(const Family& family, Config& config, std::int64_t head_dim) {
  double fraction = family.defaults.rotary_fraction;
  for (const std::string_view key : family.attention.rotary_fraction) {
    fraction = config.number(key).value_or(fraction);
  }
  const auto dims = config.integer(family.attention.rotary_dims);
  if (!family.attention.rope) {
    return 0;
  }
  const auto share =
      static_cast<std::int64_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(head_dim));
  return std::min(dims.value_or(share), head_dim);
}

Attention read_attention(const Family& family, Config& config, const Sizes& sizes) {
  const AttentionTraits& traits = family.attention;
  return {
      .heads = sizes.heads,
      .kv_heads = sizes.kv_heads,
      .head_dim = sizes.head_dim,
      .value_dim = or_default(config, family.keys.value_dim, sizes.head_dim),
      .rope_dims = rotary_dims(family, config, sizes.head_dim),
      .qkv_bias = is_set(config, traits.qkv_bias),
      .output_bias = is_set(config, traits.output_bias),
      .qk_norm = is_set(config, traits.has_qk_norm) ? traits.qk_norm : QkNorm::kNone,
      .gate = traits.gate,
      .sinks = traits.sinks,
  };
}

Dense read_dense(const Family& family, Config& config, const Sizes& sizes) {
  const bool gated = family.feed_forward.gated;
  return {.width = sizes.ffn,
          .gated = gated,
          .bias = is_set(config, family.feed_forward.bias),
          .activation =
              activation_of(config, family.keys.activation, family.defaults.activation, gated)};
}

std::int64_t shared_width(const Family& family, Config& config, std::int64_t expert_width) {
  const auto width = config.integer(family.keys.shared_width);
  const auto shared = config.integer(family.keys.shared_experts);
  const auto of_experts = shared ? *shared * expert_width : family.defaults.shared_width;
  return width.value_or(of_experts);
}

Moe read_moe(const Family& family, Config& config, const Sizes& sizes) {
  const FeedForwardTraits& traits = family.feed_forward;
  const std::int64_t width_default =
      family.defaults.expert_width != 0 ? family.defaults.expert_width : sizes.ffn;
  const std::int64_t width = required(config, family.keys.expert_width, width_default);
  Moe moe = {
      .experts = required(config, family.keys.experts, family.defaults.experts),
      .top_k = required(config, family.keys.top_k, family.defaults.top_k),
      .width = width,
      .shared_width = shared_width(family, config, width),
      .shared_gate = is_set(config, traits.shared_gate),
      .gated = traits.gated,
      .router_bias = is_set(config, traits.router_bias),
      .correction_bias = is_set(config, traits.correction_bias),
      .expert_bias = is_set(config, traits.expert_bias),
      .activation =
          activation_of(config, family.keys.activation, family.defaults.activation, traits.gated),
  };
  if (moe.top_k > moe.experts) {
    config.refuse("config-experts",
                  fmt::format("a token uses {} of {} experts", moe.top_k, moe.experts),
                  config.location());
  }
  return moe;
}

/// One of each place, from which layers are put together.
struct Prototypes {
  Mixer full;
  Mixer linear;
  Mixer mamba;
  std::optional<Dense> dense;
  std::optional<Moe> moe;
  std::int64_t window = 0;
  std::int64_t chunk = 0;
};

bool plans(const Plan& plan, MixerKind kind) {
  return std::ranges::any_of(plan, [&](const LayerPlan& layer) { return layer.mixer == kind; });
}

Mixer read_mixer(const Family& family, Config& config, const Sizes& sizes,
                 const MixerReader& reader, std::string_view what) {
  if (!reader) {
    config.refuse("config-layers", fmt::format("{} has no layers of {}", family.name, what),
                  config.location());
    return {};
  }
  return reader(config, sizes);
}

Prototypes read_prototypes(const Family& family, Config& config, const Plan& plan,
                           const Sizes& sizes) {
  Prototypes prototypes;
  if (plans(plan, MixerKind::kFull) || plans(plan, MixerKind::kSliding) ||
      plans(plan, MixerKind::kChunked)) {
    prototypes.full =
        family.latent ? family.latent(config, sizes) : Mixer(read_attention(family, config, sizes));
  }
  if (plans(plan, MixerKind::kLinear)) {
    prototypes.linear = read_mixer(family, config, sizes, family.linear, "linear attention");
  }
  if (plans(plan, MixerKind::kMamba)) {
    prototypes.mamba = read_mixer(family, config, sizes, family.mamba, "mamba");
  }
  if (has(plan, FeedForwardKind::kDense, FeedForwardKind::kBoth)) {
    prototypes.dense = read_dense(family, config, sizes);
  }
  if (has(plan, FeedForwardKind::kMoe, FeedForwardKind::kBoth)) {
    prototypes.moe = read_moe(family, config, sizes);
  }
  if (plans(plan, MixerKind::kSliding)) {
    prototypes.window = required(config, family.keys.window, family.defaults.window);
  }
  if (plans(plan, MixerKind::kChunked)) {
    prototypes.chunk = required(config, family.keys.chunk, family.defaults.chunk);
  }
  return prototypes;
}

Mixer mixer_of(const LayerPlan& plan, const Prototypes& prototypes) {
  switch (plan.mixer) {
    case MixerKind::kLinear:
      return prototypes.linear;
    case MixerKind::kMamba:
      return prototypes.mamba;
    case MixerKind::kNone:
      return {};
    default:
      break;
  }
  Mixer mixer = prototypes.full;
  if (auto* attention = std::get_if<Attention>(&mixer)) {
    attention->rope_dims = plan.rope ? attention->rope_dims : 0;
    if (plan.mixer == MixerKind::kSliding) {
      attention->span = Span::kWindow;
      attention->reach = prototypes.window;
    } else if (plan.mixer == MixerKind::kChunked) {
      attention->span = Span::kChunk;
      attention->reach = prototypes.chunk;
    }
  }
  return mixer;
}

std::vector<Layer> make_layers(const Family& family, Config& config, const Plan& plan,
                               const Prototypes& prototypes) {
  const bool parallel = is_set(config, family.parallel);
  const bool second = parallel && is_set(config, family.second_input_norm);
  std::vector<Layer> layers;
  for (const LayerPlan& choice : plan) {
    Layer layer = {.mixer = mixer_of(choice, prototypes),
                   .norms = family.norms,
                   .parallel = parallel,
                   .second_input_norm = second};
    const auto kind = choice.feed_forward;
    if (kind == FeedForwardKind::kDense || kind == FeedForwardKind::kBoth) {
      layer.dense = prototypes.dense;
    }
    if (kind == FeedForwardKind::kMoe || kind == FeedForwardKind::kBoth) {
      layer.moe = prototypes.moe;
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

/// What no decoder of ours has.
const std::vector<std::pair<std::string_view, std::string_view>> kExpected = {
    {"add_cross_attention", "false"}, {"is_encoder_decoder", "false"}};

void check_expectations(const Family& family, Config& config) {
  auto expectations = kExpected;
  expectations.insert(expectations.end(), family.expects.begin(), family.expects.end());
  for (const auto& [key, expected] : expectations) {
    const Node* node = config.find(key);
    if (node != nullptr && node->scalar != expected) {
      config.refuse("config-key",
                    fmt::format("{} of {} is known only as {}", key, family.name, expected),
                    node->location);
    }
  }
  for (const std::string_view key : family.ignores) {
    config.ignore({key});
  }
}

/// Of several vocabularies the first spelling counts: others may be those of the tokenizer.
std::int64_t first_required(Config& config, const KeyList& spellings, std::int64_t otherwise) {
  const auto present = std::ranges::find_if(
      spellings, [&](std::string_view key) { return config.find(key) != nullptr; });
  for (const std::string_view key : spellings) {
    config.ignore({key});
  }
  return present == spellings.end() ? required(config, spellings, otherwise)
                                    : required(config, {*present}, otherwise);
}

void read_model(const Family& family, Config& config, Architecture& architecture) {
  const Defaults& defaults = family.defaults;
  architecture.family = family.name;
  architecture.vocabulary = first_required(config, family.keys.vocabulary, defaults.vocabulary);
  architecture.max_context =
      config.first_integer(family.keys.max_context).value_or(defaults.max_context);
  architecture.tied = is_set(config, family.head.tied);
  architecture.head_bias = is_set(config, family.head.bias);
  architecture.norm = family.norm;
}

/// What adjustments may have left impossible.
void check_layers(Config& config, const std::vector<Layer>& layers) {
  for (const Layer& layer : layers) {
    const auto* attention = std::get_if<Attention>(&layer.mixer);
    if (attention == nullptr) {
      continue;
    }
    const bool whole = attention->kv_heads > 0 && attention->heads % attention->kv_heads == 0;
    if (!whole || attention->head_dim < 1 || attention->value_dim < 1) {
      config.refuse(
          "config-heads",
          fmt::format("a layer has {} query heads of {} over {} KV heads of {}", attention->heads,
                      attention->head_dim, attention->kv_heads, attention->value_dim),
          config.location());
      return;
    }
  }
}

}  // namespace

std::int64_t required(Config& config, const KeyList& spellings, std::int64_t otherwise) {
  const std::size_t before = config.diagnostics().size();
  const auto value = config.integer(spellings);
  if (value && *value > 0) {
    return *value;
  }
  if (!value && otherwise > 0) {
    return otherwise;
  }
  if (config.diagnostics().size() == before) {
    const Node* node = spellings.empty() ? nullptr : config.find(spellings);
    const std::string_view key = spellings.empty() ? "a size" : spellings.front();
    config.refuse("config-missing",
                  value
                      ? fmt::format("expected {} of 1 or more, found {}", key, *value)
                      : fmt::format("expected {}: it is absent, and its class has no default", key),
                  node != nullptr ? node->location : config.location());
  }
  return 1;
}

bool is_set(Config& config, const Flag& flag) {
  if (flag.key.empty()) {
    return flag.otherwise;
  }
  const auto value = config.boolean(flag.key);
  return value ? *value != flag.inverted : flag.otherwise;
}

Architecture describe(const Family& family, Config& config) {
  Architecture architecture;
  check_expectations(family, config);
  const Plan plan = plan_layers(family, config);
  if (plan.empty()) {
    return architecture;
  }
  const Sizes sizes = read_sizes(family, config, plan);
  read_model(family, config, architecture);
  architecture.hidden = sizes.hidden;
  architecture.heads = sizes.heads;
  architecture.kv_heads = sizes.kv_heads;
  const Prototypes prototypes = read_prototypes(family, config, plan, sizes);
  std::vector<Layer> layers = make_layers(family, config, plan, prototypes);
  if (family.adjust_layers) {
    family.adjust_layers(config, layers);
  }
  if (family.adjust) {
    family.adjust(config, architecture);
  }
  check_layers(config, layers);
  read_formats(config, layers, architecture);
  architecture.groups = group_layers(layers);
  for (const std::string_view sentence : family.notes) {
    config.note(std::string(sentence));
  }
  return architecture;
}

}  // namespace mansard::frontend::hf
