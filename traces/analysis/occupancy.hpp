#pragma once

#include <cstdint>
#include <optional>

#include "ir/trace.hpp"

namespace mansard::traces {

/// How blocks of a launch fill the processors of a device.
struct Occupancy {
  std::int64_t blocks_per_sm = 0;  ///< That may run at once.
  double share = 0;                ///< Of the threads that a processor holds, in [0, 1].
  double waves = 0;                ///< Blocks over all that may run at once.
  double last_wave = 0;            ///< How full the last wave is, in (0, 1].
};

/// From registers, shared memory, threads and block slots (CUDA C++ Programming Guide, compute
/// capabilities; registers are handed out to warps in 256s, shared memory with 1 KiB reserved per
/// block from capability 8.0). nullopt: the profiler did not say what that takes.
[[nodiscard]] std::optional<Occupancy> occupancy(const ir::TraceDevice& device,
                                                 const ir::TraceEvent& kernel);

}  // namespace mansard::traces
