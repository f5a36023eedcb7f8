#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// What one iteration of an engine runs, and what it costs.
namespace mansard::model::serve {

/// New tokens of one sequence whose prompt is not yet computed.
struct Chunk {
  std::uint32_t tokens = 0;   ///< New.
  std::uint32_t context = 0;  ///< Attended by the last of them, itself included.
};

/// The exact batch of an iteration: sequences that decode, by the context that their last new token
/// attends to, and chunks of prompts.
struct Batch {
  std::vector<std::uint32_t> decodes;
  std::vector<Chunk> chunks;
  std::uint32_t decode_tokens = 1;  ///< New tokens of each that decodes: 1 + drafted.

  [[nodiscard]] bool empty() const { return decodes.empty() && chunks.empty(); }
  [[nodiscard]] std::uint64_t chunk_tokens() const;
  [[nodiscard]] std::uint64_t tokens() const {
    return decodes.size() * decode_tokens + chunk_tokens();
  }
  void clear();
};

/// Costs of one iteration on all devices of a replica.
struct StepCost {
  double seconds = 0;
  double prompt_seconds = 0;  ///< Of `seconds`, the share of the chunks.
  double joules = 0;          ///< Of all devices; 0 where unknown.
};

/// Times iterations. The simulator knows nothing else of models and machines.
class StepTimer {
 public:
  StepTimer() = default;
  virtual ~StepTimer() = default;
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

  /// `batch` is not empty. Adds to `busy` the seconds that each of `resources()` binds.
  [[nodiscard]] virtual StepCost cost(const Batch& batch, std::span<double> busy) = 0;
  [[nodiscard]] virtual std::span<const std::string> resources() const = 0;
};

}  // namespace mansard::model::serve
