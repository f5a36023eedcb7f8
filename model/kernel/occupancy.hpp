#pragma once

#include <cstdint>
#include <string>

#include "hardware/machine.hpp"
#include "model/kernel/walk.hpp"
#include "support/result.hpp"

namespace mansard::model::kernel {

/// What a block takes of an SM.
struct Resources {
  std::int64_t registers = 0;      ///< Per thread, as allocated by the assembler.
  std::int64_t static_shared = 0;  ///< Bytes.
  bool assembled = false;          ///< From ptxas; else estimated from the PTX.
};

struct Occupancy {
  std::int64_t blocks_per_sm = 0;
  std::int64_t warps_per_sm = 0;
  double fraction = 0;  ///< Of the warps that an SM can hold.
  std::string limiter;  ///< "registers", "shared memory", "warps", "blocks".
  double waves = 0;     ///< Grid over the blocks that the machine holds at once.
};

/// Blocks that fit an SM, by the rules of the CUDA occupancy calculator with the limits and
/// allocation units of the machine file. Errors: a machine without these figures, a block that does
/// not fit.
[[nodiscard]] Result<Occupancy> occupancy(const hardware::Machine& machine,
                                          const Resources& resources, const Launch& launch);

}  // namespace mansard::model::kernel
