#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ir/dtype.hpp"

namespace mansard::frontend::hf {

/// The matmul weights that quantisation may treat apart. Everything else (norms, biases,
/// convolutions, tables) keeps the checkpoint's type.
enum class WeightRole : std::uint8_t {
  kQkv,      ///< q, k, v; of MLA all projections before the attention.
  kOutput,   ///< The mixer's output projection.
  kMixer,    ///< Input projections of linear attention and state-space mixers.
  kDense,    ///< Dense feed-forward.
  kExperts,  ///< Routed experts.
  kShared,   ///< Shared experts.
  kRouter,   ///< Router and shared-expert gate.
  kIndexer,  ///< Sparse-attention indexer.
  kHead,     ///< Output head, if not tied.
  kCount,
};

/// The element types of each role's weights, and in which its matmuls read their input; nullptr:
/// the checkpoint's type.
struct WeightFormats {
  using ByRole = std::array<const ir::Dtype*, static_cast<std::size_t>(WeightRole::kCount)>;
  ByRole weights{};
  ByRole inputs{};

  [[nodiscard]] const ir::Dtype* weight(WeightRole role) const {
    return weights[static_cast<std::size_t>(role)];
  }
  [[nodiscard]] const ir::Dtype* input(WeightRole role) const {
    return inputs[static_cast<std::size_t>(role)];
  }
  void set(WeightRole role, const ir::Dtype* weight, const ir::Dtype* input) {
    weights[static_cast<std::size_t>(role)] = weight;
    inputs[static_cast<std::size_t>(role)] = input;
  }
  friend bool operator==(const WeightFormats&, const WeightFormats&) = default;
};

}  // namespace mansard::frontend::hf
