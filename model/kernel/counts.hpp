#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel.hpp"
#include "ir/kernel_flow.hpp"
#include "model/kernel/walk.hpp"

/// What a launch of a kernel asks for, counted.
///
///     const Counts counts = count(kernel, analyse_flow(kernel), launch);
namespace mansard::model::kernel {

/// Of one instruction that accesses memory, over the whole launch.
struct AccessCounts {
  ir::MemorySpace space = ir::MemorySpace::kGlobal;
  double requests = 0;    ///< By warps with a lane active.
  double sectors = 0;     ///< Of 32 bytes.
  double bytes = 0;       ///< That the active lanes asked for.
  double wavefronts = 0;  ///< Shared memory: passes over the banks.
  double ideal = 0;       ///< Passes without conflicts.
  double lanes = 0;       ///< Active lanes, summed.
  double serial = 0;      ///< Atomics: repetitions on one address within a warp, summed.
  double lines = 0;       ///< Lines of 128 bytes: tags that the L1 looks up.
};

/// The addresses of an access that some warps of a box of blocks make: where the first lies, what a
/// warp touches, and how it moves along blocks and loops.
struct Touch {
  std::uint32_t access = 0;
  std::uint32_t pattern = 0;
  std::uint32_t warp = 0;
  std::int64_t address = 0;
  std::array<std::int64_t, 3> origin{};
  std::array<Stride, 3> blocks;
  std::vector<Stride> strides;
  double weight = 1;      ///< Repetitions at the same addresses.
  double represents = 1;  ///< Blocks that a sampled block stands for.
  double bulk_bytes = 0;
};

struct Counts {
  std::vector<double> warp;    ///< Executions by instruction, warps.
  std::vector<double> thread;  ///< Threads.
  std::vector<AccessCounts> accesses;
  std::vector<Touch> touches;  ///< Of global memory.
  PatternTable patterns;
  Findings findings;
  double sampled_blocks = 0;      ///< If not 0, blocks that stand for others.
  double represented_blocks = 0;  ///< The blocks that they stand for.
  double warps_per_block = 0;
  double divergent_branches =
      0;  ///< Executions of branches that divided a warp (of the boxes walked).
  std::int64_t steps = 0;
  std::int64_t boxes = 0;
};

/// Counts exactly wherever control and addresses follow from the arguments; `findings` says where
/// they do not.
[[nodiscard]] Counts count(const ir::Kernel& kernel, const ir::KernelFlow& flow,
                           const Launch& launch);

}  // namespace mansard::model::kernel
