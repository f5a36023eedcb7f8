#pragma once

#include <array>
#include <map>
#include <string>

#include "ir/kernel.hpp"
#include "model/kernel/counts.hpp"

namespace mansard::model::kernel {

struct GlobalTotals {
  double requests = 0;
  double sectors = 0;
  double bytes = 0;
};
struct SharedTotals {
  double requests = 0;
  double wavefronts = 0;
  double bank_conflicts = 0;  ///< Wavefronts beyond those that the bytes need.
};

/// A launch in numbers that a profiler counts too.
struct Totals {
  double thread_instructions = 0;  ///< Of the PTX.
  double warp_instructions = 0;    ///< Of the machine, after expansion.
  double warp_instructions_low = 0;
  double warp_instructions_high = 0;
  double ptx_warp_instructions = 0;
  std::array<double, ir::kPipes> pipes{};  ///< Machine instructions of warps by pipe.
  double flops_fp32 = 0;
  double flops_fp64 = 0;
  double flops_fp16 = 0;
  double flops_tensor = 0;
  double special = 0;
  GlobalTotals global_load;  ///< With asynchronous and bulk copies.
  GlobalTotals global_store;
  GlobalTotals local_load;
  GlobalTotals local_store;
  GlobalTotals atomics;  ///< Atomic operations and reductions on global memory.
  SharedTotals shared_load;
  SharedTotals shared_store;
  double atomic_serial =
      0;  ///< Atomic operations after those of a warp on one address are taken one by one.
  double l1_lines = 0;  ///< Tags that global and local accesses look up.
  double bulk_bytes = 0;
  std::map<std::string, double> tensor_by_type;
};

/// Warps that issue each instruction of the machine: those of `counts`, and where ptxas predicates
/// a piece of code that a branch skips, all that reach it.
[[nodiscard]] std::vector<double> issued_warps(const ir::Kernel& kernel, const Counts& counts);

[[nodiscard]] Totals totals_of(const ir::Kernel& kernel, const Counts& counts);

}  // namespace mansard::model::kernel
