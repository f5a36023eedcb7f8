#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/expr.hpp"
#include "ir/kernel.hpp"
#include "ir/kernel_flow.hpp"

/// What a kernel does as formulas in its own arguments, before any is known.
namespace mansard::ir {

/// Straight-line code of one loop, or outside all loops, per thread that reaches it.
struct KernelRegion {
  std::uint32_t loop = kNothing;
  std::string name;  ///< "entry", "L1".
  Expr trips;  ///< Times the header runs each time the loop is entered; absent if it depends on
               ///< data.
  Expr runs;  ///< Product of the trips of the loops around it and its own; unknown ones are symbols
              ///< trip_L1.
  double instructions = 0;  ///< Of the PTX, per run.
  double flops_fp32 = 0;
  double flops_fp64 = 0;
  double flops_fp16 = 0;
  double tensor_flops = 0;  ///< Of a warp.
  double global_load_bytes = 0;
  double global_store_bytes = 0;
  double shared_bytes = 0;
};

struct KernelFormulas {
  std::shared_ptr<ExprPool> pool;
  std::vector<KernelRegion> regions;  ///< Outside of loops first, then by loop.
  Expr thread_instructions;           ///< Of a thread that takes every path once.
  Expr flops;                         ///< Likewise, all formats.
  Expr global_bytes;
  std::vector<std::string> unknowns;  ///< Loops without a formula: "trip_L2".
  std::vector<std::string>
      assumptions;  ///< What the formulas take for granted: no overflow, positive steps.
};

/// Trip counts follow from registers that step by the same amount each time and a comparison that
/// ends the loop. Symbols are tid.x, ctaid.x, ntid.x, nctaid.x and so on, and the parameters by the
/// names the user gave.
[[nodiscard]] KernelFormulas formulas_of(const Kernel& kernel, const KernelFlow& flow);

}  // namespace mansard::ir
