#include "frontend/hf/rules.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "frontend/hf/rule_help.hpp"

namespace mansard::frontend::hf {

namespace {

struct LayerWord {
  std::string_view word;
  MixerKind kind;
};

/// The words of `layer_types`, as transformers spells them.
constexpr std::array kLayerWords = {
    LayerWord{"full_attention", MixerKind::kFull},
    LayerWord{"attention", MixerKind::kFull},
    LayerWord{"global_attention", MixerKind::kFull},
    LayerWord{"sliding_attention", MixerKind::kSliding},
    LayerWord{"deepseek_sparse_attention", MixerKind::kFull},
    LayerWord{"local_attention", MixerKind::kSliding},
    LayerWord{"chunked_attention", MixerKind::kChunked},
    LayerWord{"linear_attention", MixerKind::kLinear},
    LayerWord{"conv", MixerKind::kLinear},
    LayerWord{"mamba", MixerKind::kMamba},
};

const LayerWord* find_word(std::string_view word) {
  const auto* const found = std::ranges::find(kLayerWords, word, &LayerWord::word);
  return found == kLayerWords.end() ? nullptr : found;
}

std::int64_t or_else(Config& config, std::string_view key, std::int64_t otherwise) {
  return key.empty() ? otherwise : config.integer({key}).value_or(otherwise);
}

void set_letter(Config& config, const Node& node, std::string_view letter, LayerPlan& layer) {
  if (letter == "M" || letter == "mamba" || letter == "mamba2" || letter == "linear_attention") {
    layer.mixer = MixerKind::kMamba;
    layer.feed_forward = FeedForwardKind::kNone;
  } else if (letter == "*" || letter == "attention" || letter == "full_attention") {
    layer.mixer = MixerKind::kFull;
    layer.feed_forward = FeedForwardKind::kNone;
  } else if (letter == "-" || letter == "mlp") {
    layer.mixer = MixerKind::kNone;
    layer.feed_forward = FeedForwardKind::kDense;
  } else if (letter == "E" || letter == "moe") {
    layer.mixer = MixerKind::kNone;
    layer.feed_forward = FeedForwardKind::kMoe;
  } else {
    config.refuse("config-layers", fmt::format("layer kind '{}' is not known", letter),
                  node.location, "known: M (mamba), * (attention), - (mlp), E (moe)");
  }
}

void set_all(Plan& plan, MixerKind kind) {
  for (LayerPlan& layer : plan) {
    layer.mixer = kind;
  }
}

}  // namespace

Rule window_everywhere(std::int64_t otherwise, KeyList window) {
  return [otherwise, window = std::move(window)](Config& config, Plan& plan) {
    const bool silent =
        std::ranges::none_of(window, [&](std::string_view key) { return config.mentions(key); });
    if (config.integer(window).value_or(silent ? otherwise : 0) > 0) {
      set_all(plan, MixerKind::kSliding);
    }
  };
}

Rule switched_window() {
  return [](Config& config, Plan& plan) {
    const bool on = config.boolean("use_sliding_window").value_or(false);
    const auto window = config.integer({"sliding_window"});
    const auto first = config.integer({"max_window_layers"}).value_or(0);
    if (!on || window.value_or(0) == 0) {
      return;
    }
    for (auto i = static_cast<std::size_t>(first); i < plan.size(); ++i) {
      plan[i].mixer = MixerKind::kSliding;
    }
  };
}

Rule listed_layer_types(std::string_view key) {
  return [key](Config& config, Plan& plan) {
    const std::vector<std::string> words = config.strings(key);
    if (words.empty() || !fits(config, key, words.size(), plan)) {
      return;
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (const LayerWord* known = find_word(words[i])) {
        plan[i].mixer = known->kind;
      } else {
        config.refuse("config-layers", fmt::format("layer kind '{}' is not known", words[i]),
                      config.find(key)->items[i].location);
      }
    }
  };
}

Rule windows_but_every(std::string_view key, std::int64_t period) {
  return [key, period](Config& config, Plan& plan) {
    const std::size_t every = period_of(config, key, period);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      plan[i].mixer = (i + 1) % every == 0 ? MixerKind::kFull : MixerKind::kSliding;
    }
  };
}

Rule windows_but_first_of(std::int64_t period) {
  return [period](Config&, Plan& plan) {
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const bool first = i % static_cast<std::size_t>(period) == 0;
      plan[i].mixer = first ? MixerKind::kFull : MixerKind::kSliding;
    }
  };
}

Rule alternating_windows() {
  return windows_but_every({}, 2);
}

Rule listed_mixers(std::string_view key, std::int64_t marked, MixerKind kind) {
  return [key, marked, kind](Config& config, Plan& plan) {
    const std::vector<std::int64_t> list = config.integers(key);
    if (list.empty() || !fits(config, key, list.size(), plan)) {
      return;
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
      plan[i].mixer = list[i] == marked ? kind : plan[i].mixer;
    }
  };
}

Rule linear_but_every(std::string_view key, std::int64_t period) {
  return [key, period](Config& config, Plan& plan) {
    const std::size_t every = period_of(config, key, period);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      plan[i].mixer = (i + 1) % every == 0 ? MixerKind::kFull : MixerKind::kLinear;
    }
  };
}

Rule linear_in(std::string_view key) {
  return [key](Config& config, Plan& plan) {
    for (const std::int64_t layer : config.integers(key)) {
      if (layer < 1 || static_cast<std::size_t>(layer) > plan.size()) {
        config.refuse("config-layers",
                      fmt::format("{} names layer {} of {}", key, layer, plan.size()),
                      config.find(key)->location, "layers count from 1");
        return;
      }
      plan[static_cast<std::size_t>(layer) - 1].mixer = MixerKind::kLinear;
    }
  };
}

Rule mamba_but_every(std::string_view period_key, std::string_view offset_key) {
  return [period_key, offset_key](Config& config, Plan& plan) {
    const std::size_t period = period_of(config, period_key, 8);
    const auto offset = static_cast<std::size_t>(or_else(config, offset_key, 4));
    for (std::size_t i = 0; i < plan.size(); ++i) {
      plan[i].mixer = i % period == offset ? MixerKind::kFull : MixerKind::kMamba;
    }
  };
}

Rule all_mamba() {
  return [](Config&, Plan& plan) {
    for (LayerPlan& layer : plan) {
      layer = {.mixer = MixerKind::kMamba, .feed_forward = FeedForwardKind::kNone};
    }
  };
}

Rule attention_only_in(std::string_view key) {
  return [key](Config& config, Plan& plan) {
    set_all(plan, MixerKind::kMamba);
    for (const std::int64_t layer : config.integers(key)) {
      if (static_cast<std::size_t>(layer) < plan.size()) {
        plan[static_cast<std::size_t>(layer)].mixer = MixerKind::kFull;
      }
    }
  };
}

namespace {

/// The layer kinds as words, whether the config lists words or writes one letter a layer.
std::vector<std::string> layer_kinds(Config& config, std::string_view letters_key,
                                     std::string_view words_key) {
  std::vector<std::string> kinds = config.strings(words_key);
  const Node* letters = config.find(letters_key);
  if (config.find(words_key) == nullptr && letters != nullptr && letters->is_scalar()) {
    for (const char letter : letters->scalar) {
      kinds.emplace_back(1, letter);
    }
  }
  return kinds;
}

}  // namespace

Rule lettered_layers(std::string_view letters_key, std::string_view words_key) {
  return [letters_key, words_key](Config& config, Plan& plan) {
    const Node* words = config.find(words_key);
    const Node* letters = config.find(letters_key);
    const std::vector<std::string> kinds = layer_kinds(config, letters_key, words_key);
    const Node* const source = words != nullptr ? words : letters;
    if (source == nullptr) {
      config.refuse("config-missing", fmt::format("expected {}", letters_key), config.location());
      return;
    }
    if (kinds.size() > std::size_t{kMostLayers} || (!plan.empty() && plan.size() != kinds.size())) {
      config.refuse("config-layers",
                    fmt::format("{} layer kinds for {} layers", kinds.size(), plan.size()),
                    source->location);
      return;
    }
    plan.resize(kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      set_letter(config, *source, kinds[i], plan[i]);
    }
  };
}

Rule unrotated_layers(std::string_view list_key, std::string_view interval_key,
                      std::int64_t interval) {
  return [list_key, interval_key, interval](Config& config, Plan& plan) {
    const std::size_t every = period_of(config, interval_key, interval);
    const std::vector<std::int64_t> list = config.integers(list_key);
    if (!list.empty() && !fits(config, list_key, list.size(), plan)) {
      return;
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
      plan[i].rope = list.empty() ? (i + 1) % every != 0 : list[i] != 0;
    }
  };
}

Rule unrotated_where_full() {
  return [](Config&, Plan& plan) {
    for (LayerPlan& layer : plan) {
      layer.rope = layer.mixer != MixerKind::kFull;
    }
  };
}

Rule chunks_where_rotated(std::int64_t otherwise) {
  return [otherwise](Config& config, Plan& plan) {
    const bool silent = !config.mentions("attention_chunk_size");
    if (config.integer({"attention_chunk_size"}).value_or(silent ? otherwise : 0) == 0) {
      return;
    }
    for (LayerPlan& layer : plan) {
      layer.mixer = layer.rope ? MixerKind::kChunked : MixerKind::kFull;
    }
  };
}

}  // namespace mansard::frontend::hf
