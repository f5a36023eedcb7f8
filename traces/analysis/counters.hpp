#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel_work.hpp"
#include "traces/dataset/sqlite.hpp"

/// What Nsight Compute's counters say of kernels.
namespace mansard::traces {

/// The work of every kernel that has counters of its own or of a matched run. FLOP by sass
/// instructions (FMA 2) and by tensor path; bytes from sectors of 32. The time is the timeline's
/// where there is one, since counters may be taken at locked clocks. Metrics: notes on the raw page
/// in README.md.
[[nodiscard]] std::vector<ir::KernelWork> counted_work(Database& dataset);

/// A reason for which warps wait, in warps per issue: cycles of waiting per instruction issued.
struct Stall {
  std::string reason;  ///< "long_scoreboard".
  double per_issue = 0;
  bool throughput = false;  ///< A unit is busy (throttle, not selected); else a latency.
};
struct KernelStalls {
  std::int64_t kernel = 0;
  std::string name;
  double seconds = 0;
  bool clock_locked = false;           ///< `seconds` is of a run whose clocks the profiler held.
  std::optional<double> ipc;           ///< Warp instructions per cycle and processor.
  std::optional<double> issue_active;  ///< Share of cycles in which a scheduler issues, in [0, 1].
  std::optional<double> warps_per_scheduler;
  std::vector<Stall> stalls;  ///< Greatest first.
};
[[nodiscard]] std::vector<KernelStalls> stalls(Database& dataset);

/// Shares of warp instructions by class, of kernels that count them: what counters tell apart.
struct InstructionMix {
  std::int64_t kernel = 0;
  std::string name;
  double warp_instructions = 0;
  std::map<std::string, double> shares;  ///< "global load", "fp32", ...
};
[[nodiscard]] std::vector<InstructionMix> instruction_mixes(Database& dataset);

}  // namespace mansard::traces
