#pragma once

#include "ir/kernel.hpp"
#include "model/kernel/counts.hpp"

namespace mansard::model::kernel {

/// Latencies in cycles of the levels that a load may come from, and how likely a round of loads
/// goes that far.
struct LoadLatency {
  double l1 = 33;
  double l2 = 260;
  double dram = 660;
  double shared = 29;
  double l2_per_sector = 0;    ///< Of requested sectors, the share that L1 misses.
  double dram_per_sector = 0;  ///< The share that L2 misses.
};

/// What a warp takes when nothing else runs: loads that wait for each other, and instructions in a
/// row. Loads of one piece of straight-line code whose addresses do not depend on each other are in
/// flight together.
[[nodiscard]] double chain_cycles(const ir::Kernel& kernel, const Counts& counts,
                                  const LoadLatency& latency, double warps);

}  // namespace mansard::model::kernel
