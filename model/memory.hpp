#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr_eval.hpp"
#include "ir/graph.hpp"
#include "ir/typed.hpp"
#include "model/plan.hpp"

/// What one device must hold.
namespace mansard::model {

/// Expressions over the workload, each of one device.
struct MemoryModel {
  ir::Typed<Bytes> weights;  ///< With block scales and buffers.
  ir::Typed<Bytes> kv;  ///< KV cache and recurrent state, all sequences, at the end of the step.
  ir::Typed<Bytes> activations;  ///< The most that are alive at once (liveness over the graph).

  [[nodiscard]] ir::Typed<Bytes> total() const { return weights + kv + activations; }
};

/// `graph` is a device's graph from `prepare`; each of `repeats` microbatches keeps its own cache.
[[nodiscard]] MemoryModel memory_model(const ir::Graph& graph, std::int64_t repeats);

/// The greatest integer value of `symbol` in [1, limit] at which `fits` holds, given that it holds
/// below some value and not above; nullopt if it does not hold at 1.
template <typename Predicate>
[[nodiscard]] std::optional<std::int64_t> greatest(std::int64_t limit, Predicate fits) {
  if (!fits(1)) {
    return std::nullopt;
  }
  std::int64_t low = 1;
  std::int64_t high = 1;
  while (high < limit && fits(high)) {
    low = high;
    high = high > limit / 2 ? limit : high * 2;
  }
  if (fits(high)) {
    return high;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace mansard::model
