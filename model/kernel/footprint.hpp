#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "model/kernel/counts.hpp"

namespace mansard::model::kernel {

/// A box of blocks of the grid.
struct Window {
  std::array<std::int64_t, 3> origin{};
  std::array<std::int64_t, 3> extent{1, 1, 1};
};

struct Footprint {
  double requested = 0;  ///< Bytes of the units that requests touch, each request by itself.
  double distinct = 0;   ///< Bytes of different units.
};

/// How much memory the accesses that `chosen` picks touch from the blocks of `window`, in units of
/// `unit` bytes (32: sectors; 64: what device memory moves).
///
/// An estimator without bias: of requested units a fixed sample is drawn, and how often each is
/// touched is solved for exactly from the strides of every access; the distinct units are the sum
/// of the reciprocals. It is exact where all units are touched equally often. Deterministic.
[[nodiscard]] Footprint footprint(const Counts& counts, const Window& window, std::int64_t unit,
                                  const std::function<bool(std::uint32_t access)>& chosen);

}  // namespace mansard::model::kernel
