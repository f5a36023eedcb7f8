#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/document.hpp"
#include "support/result.hpp"

/// The settings of a serving engine, named as vLLM names them; defaults are vLLM's (0.19).
namespace mansard::model::serve {

enum class QueueOrder : std::uint8_t {
  kFcfs,      ///< First come, first served.
  kPriority,  ///< By priority, then by arrival; preempts the least urgent.
  kShortest,  ///< Fewest prompt tokens first.
  kFair,      ///< The user who has been served the fewest tokens first.
};
enum class Precedence : std::uint8_t {
  kDecodeFirst,   ///< vLLM V1: whatever runs goes on, what is left of the budget admits.
  kPrefillFirst,  ///< Prompts take the budget first; without chunks, decoding waits for them.
};
enum class Preemption : std::uint8_t { kRecompute, kSwap };

struct EngineSettings {
  std::uint32_t block_size = 16;            ///< Tokens of a KV block.
  std::optional<std::uint64_t> num_blocks;  ///< Of one replica; absent: from what memory is left.
  std::uint32_t max_num_seqs = 256;
  std::uint32_t max_num_batched_tokens = 2048;
  std::uint32_t max_model_len = 0;  ///< 0: what the model states.
  bool enable_chunked_prefill = true;
  bool enable_prefix_caching = true;
  double gpu_memory_utilization = 0.9;
  double runtime_bytes = 0.6e9;        ///< CUDA context and libraries; assumed.
  std::optional<double> device_bytes;  ///< What the device reports; absent: the machine's.
  std::uint32_t long_prefill_token_threshold = 0;  ///< Most new tokens of a prompt; 0: no limit.
  bool reserve_full_sequence = true;  ///< Admit only what fits whole (scheduler_reserve_full_isl).
  double watermark = 0;               ///< Share of the blocks that admission leaves free.
  QueueOrder order = QueueOrder::kFcfs;
  Precedence precedence = Precedence::kDecodeFirst;
  Preemption preemption = Preemption::kRecompute;
  double swap_bytes = 4.294967296e9;         ///< Host memory for swapped blocks, a device: 4 GiB.
  bool async_scheduling = true;              ///< The next iteration is scheduled while one runs.
  double host_seconds = 0.5e-3;              ///< Of the host, an iteration; assumed.
  double host_seconds_per_sequence = 10e-6;  ///< And each sequence in it; assumed.
  bool enforce_eager = false;
  std::vector<std::uint32_t> capture_sizes;  ///< Of CUDA graphs, in tokens, ascending; empty:
                                             ///< vLLM's list.
  std::uint32_t draft_tokens = 0;            ///< Speculative decoding.
  double acceptance = 0.7;                   ///< Of each drafted token, given those before it.
  std::vector<std::string> notes;            ///< What the file said that has no effect here.

  /// The sizes that graphs are captured for: those given, or 1, 2, 4, by 8 to 256, by 16 to 512, up
  /// to twice `max_num_seqs`.
  [[nodiscard]] std::vector<std::uint32_t> captured() const;
};

/// What `settings` also says of the deployment.
struct EngineFile {
  EngineSettings settings;
  std::string model;
  std::string device;
  std::int64_t tp = 1;
  std::int64_t dp = 1;
  std::int64_t pp = 1;
  bool expert_parallel = false;
  std::string kv_dtype;  ///< "" or "auto": the model's.
  std::string quantization;
};

/// Reads what a vLLM benchmark writes beside its results (`engine_kwargs`, `kv_cache`, `hardware`,
/// `resolved_config`), or a flat mapping of the same names. Keys that have no effect here are
/// left alone; values of the wrong kind or out of range are errors, all of them at once.
[[nodiscard]] Result<EngineFile> read_engine(const Node& document);

/// "a positive number of blocks" and the like: what is wrong with settings from any source.
[[nodiscard]] Result<void> check(const EngineSettings& settings);

}  // namespace mansard::model::serve
