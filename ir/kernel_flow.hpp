#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel.hpp"

/// Where control goes in a kernel, and what decides it.
namespace mansard::ir {

/// A natural loop. Loops are numbered from 0 in order of their headers; a person calls them L1, L2,
/// ...
struct KernelLoop {
  std::uint32_t header = 0;
  std::uint32_t parent = kNothing;  ///< The loop around it.
  std::uint32_t depth = 1;
  std::uint32_t number = 0;  ///< In an order of all loops in which those inside this one follow it,
  std::uint32_t last = 0;    ///< up to this number.
  std::vector<std::uint32_t> blocks;  ///< Sorted; those of inner loops too.
  std::vector<std::uint32_t>
      carried;  ///< Tracked registers that the loop writes and its header reads or passes on.
  std::vector<std::uint32_t> modified;  ///< Tracked registers that the loop writes.
  bool waits = false;  ///< Polls a barrier in memory; runs once as soon as that is complete.
};

struct KernelFlow {
  std::vector<std::vector<std::uint32_t>> successors;
  std::vector<std::uint32_t> post_dominator;  ///< Immediate; kNothing is the end of the kernel.
  std::vector<std::uint32_t> dominator;  ///< Immediate; kNothing of the entry and of what it does
                                         ///< not reach.
  std::vector<KernelLoop> loops;
  std::vector<std::uint32_t> loop_of;  ///< Innermost loop of a block, or kNothing.
  std::vector<bool> tracked;           ///< Registers that an address or a branch depends on.
  std::vector<bool> step;              ///< Instructions that must be evaluated.

  /// True if `block` lies in `loop` or in one inside it; every block lies in kNothing.
  [[nodiscard]] bool inside(std::uint32_t loop, std::uint32_t block) const;
};

[[nodiscard]] KernelFlow analyse_flow(const Kernel& kernel);

/// "L1" for loop 0.
[[nodiscard]] std::string loop_name(std::uint32_t loop);

}  // namespace mansard::ir
