#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "ir/kernel_work.hpp"

/// Both rooflines of a measured kernel: FLOP per byte at device memory, L2 and L1 (Yang et al.
/// 2020), and warp instructions per sector (Ding and Williams 2019).
namespace mansard::model {

/// What a resource alone would take for the kernel.
struct CeilingTime {
  std::string resource;  ///< "hbm", "l2", "shared", "vector.fp32", "instruction".
  double seconds = 0;
};

enum class KernelBound {
  kMemory,   ///< A memory's ceiling is the nearest.
  kCompute,  ///< A rate's, of FLOP or of instructions.
  kLaunch,   ///< So short that starting it is most of it.
  kLatency,  ///< Below 75 % of every ceiling.
  kUnknown,  ///< Nothing is known of its work.
};
[[nodiscard]] std::string_view name_of(KernelBound bound);

struct KernelRoofline {
  const ir::KernelWork* work = nullptr;
  std::vector<CeilingTime> ceilings;  ///< The slowest first.
  std::optional<double> intensity;    ///< FLOP per byte of device memory.
  std::optional<double> l2_intensity;
  std::optional<double> l1_intensity;
  std::optional<double> instruction_intensity;  ///< Warp instructions per sector of device memory.
  double ridge = 0;  ///< FLOP per byte, of the rate that most of its FLOP use; 0: none.
  /// Its FLOP take longer than device memory; of a kernel without FLOP, its instructions do.
  bool above_ridge = false;
  double instruction_ridge = 0;  ///< Warp instructions per sector; 0: not known.
  double attained = 0;           ///< Share of the binding ceiling, in [0, ...).
  double headroom_s = 0;         ///< What it would save at that ceiling.
  KernelBound bound = KernelBound::kUnknown;

  [[nodiscard]] std::string binding() const {
    return ceilings.empty() ? "" : ceilings.front().resource;
  }
};

/// The ceilings of `machine` at its greatest clock; at the kernel's own where the profiler held
/// that. A figure that the machine does not know gives no ceiling.
[[nodiscard]] KernelRoofline kernel_roofline(const hardware::Machine& machine,
                                             const ir::KernelWork& work);

}  // namespace mansard::model
