#pragma once

#include "hardware/machine.hpp"
#include "model/kernel/counts.hpp"
#include "model/kernel/footprint.hpp"
#include "model/kernel/occupancy.hpp"
#include "model/kernel/totals.hpp"

namespace mansard::model::kernel {

/// Bytes that cross each level of the memory hierarchy.
struct Traffic {
  double l2_read = 0;         ///< From L2 to the SMs: what L1 does not hold.
  double l2_write = 0;        ///< L1 writes through.
  double dram_read = 0;       ///< From a cold L2, in units of 64 bytes.
  double dram_write = 0;      ///< Without what the L2 still holds at the end.
  double read_footprint = 0;  ///< Distinct bytes read, of 64-byte units.
  double write_footprint = 0;
  double block_footprint = 0;  ///< Distinct bytes that one block reads, in sectors.
  double wave_footprint = 0;   ///< Distinct bytes that the blocks of one wave read.
  bool fits_l2 = false;  ///< Everything that is touched fits; launched again, it is found there.
};

[[nodiscard]] Traffic traffic(const ir::Kernel& kernel, const ir::KernelFlow& flow,
                              const Counts& counts, const Totals& totals, const Launch& launch,
                              const Occupancy& occupancy, const hardware::Machine& machine);

}  // namespace mansard::model::kernel
