#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/hf/describe.hpp"
#include "support/suggest.hpp"

namespace mansard::frontend::hf {

namespace {

/// Elementwise arithmetic and special operations of an output element, without the gate product.
struct ActivationCost {
  std::string_view name;
  std::int64_t arithmetic;
  std::int64_t special;
  std::int64_t parameters = 0;
};

/// silu x/(1+exp(-x)); tanh-GELU 0.5x(1+tanh(c(x+ax^3))); erf-GELU 0.5x(1+erf(x/sqrt 2)).
constexpr std::array kActivations = {
    ActivationCost{"silu", 2, 1},
    ActivationCost{"swish", 2, 1},
    ActivationCost{"swiglu", 2, 1},
    ActivationCost{"gelu", 4, 1},
    ActivationCost{"gelu_new", 8, 1},
    ActivationCost{"gelu_fast", 8, 1},
    ActivationCost{"gelu_pytorch_tanh", 8, 1},
    ActivationCost{"quick_gelu", 3, 1},
    ActivationCost{"relu", 1, 0},
    ActivationCost{"relu2", 2, 0},
    ActivationCost{"relu_squared", 2, 0},
    ActivationCost{"gelu_python", 4, 1},
    ActivationCost{"gelu_accurate", 8, 1},
    ActivationCost{"xielu", 8, 1, 2},
};

}  // namespace

Activation activation_of(Config& config, const KeyList& spellings, std::string_view otherwise,
                         bool gated) {
  std::string name(otherwise);
  const Node* place = nullptr;
  // Files carry stale spellings beside the one that counts (gemma), so they need not agree.
  for (const std::string_view key : spellings) {
    const Node* node = config.find(key);
    if (node != nullptr && place == nullptr && node->is_scalar()) {
      place = node;
      name = node->scalar;
    }
  }
  const auto* const known = std::ranges::find(kActivations, name, &ActivationCost::name);
  if (known == kActivations.end()) {
    std::vector<std::string> names;
    names.reserve(kActivations.size());
    for (const ActivationCost& activation : kActivations) {
      names.emplace_back(activation.name);
    }
    const auto meant = did_you_mean(name, names);
    config.refuse("config-activation", fmt::format("activation '{}' is not known", name),
                  place != nullptr ? place->location : config.location(),
                  meant ? fmt::format("did you mean {}?", *meant) : "");
    return {};
  }
  return {.name = gated ? name + "_mul" : name,
          .arithmetic = known->arithmetic + (gated ? 1 : 0),
          .special = known->special,
          .parameters = known->parameters};
}

}  // namespace mansard::frontend::hf
