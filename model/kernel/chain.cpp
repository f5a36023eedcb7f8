#include "model/kernel/chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace mansard::model::kernel {
namespace {

using ir::MemorySpace;
using ir::Pipe;

/// Cycles until a dependent instruction can issue, from published microbenchmarks of Volta to
/// Hopper (Jia et al. 2018, Luo et al. 2025).
double latency_of(Pipe pipe) {
  switch (pipe) {
    case Pipe::kXu:
      return 18;
    case Pipe::kFp64:
      return 8;
    case Pipe::kTensor:
      return 33;
    case Pipe::kLsu:
      return 23;
    case Pipe::kTex:
      return 200;
    case Pipe::kBranch:
      return 8;
    default:
      return 4.5;
  }
}

/// Arithmetic of one thread has about two independent strands.
constexpr double kParallelism = 2;

struct Rounds {
  int global = 0;
  int shared = 0;
  bool chased = false;  ///< An address comes from a load of the iteration before.
};

bool waits(const ir::KernelAccess& access) {
  return access.kind == ir::AccessKind::kLoad || access.kind == ir::AccessKind::kAtomic;
}

/// Greatest number of loads of `block` of which each needs the one before.
Rounds rounds_of(const ir::Kernel& kernel, const Counts& counts, const ir::KernelBlock& block) {
  std::map<std::uint32_t, Rounds> depth;
  std::set<std::uint32_t> awaited;  // Addresses that the block had before it loaded.
  Rounds deepest;
  for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
    const ir::KernelInstruction& each = kernel.instructions[i];
    Rounds at;
    const auto needs = [&](const ir::KernelOperand& operand) {
      if (operand.kind == ir::KernelOperand::Kind::kRegister) {
        const auto found = depth.find(operand.id);
        if (found != depth.end()) {
          at.global = std::max(at.global, found->second.global);
          at.shared = std::max(at.shared, found->second.shared);
        }
      }
    };
    std::for_each(each.operands.begin(), each.operands.end(), needs);
    if (each.access != ir::kNothing) {
      const ir::KernelAccess& access = kernel.accesses[each.access];
      needs(access.address);
      if (access.address.kind == ir::KernelOperand::Kind::kRegister &&
          !depth.contains(access.address.id)) {
        awaited.insert(access.address.id);
      }
      const MemorySpace space = counts.accesses[each.access].space;
      if (waits(access) && counts.accesses[each.access].requests > 0) {
        at.global += space == MemorySpace::kGlobal ? 1 : 0;
        at.shared += space == MemorySpace::kShared ? 1 : 0;
      }
    }
    deepest.global = std::max(deepest.global, at.global);
    deepest.shared = std::max(deepest.shared, at.shared);
    for (const std::uint32_t to : {each.destination, each.destination2}) {
      if (to != ir::kNothing && (at.global > 0 || at.shared > 0)) {
        depth[to] = at;
      }
    }
  }
  deepest.chased =
      std::ranges::any_of(awaited, [&](std::uint32_t reg) { return depth.contains(reg); });
  return deepest;
}

double arithmetic_cycles(const ir::Kernel& kernel, const ir::KernelBlock& block) {
  double cycles = 0;
  for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
    const ir::KernelInstruction& each = kernel.instructions[i];
    const Pipe pipe = kernel.classes[each.kind].pipe;
    const bool memory = each.access != ir::kNothing;
    cycles += each.barrier ? 30
              : memory     ? 2 * each.machine
                           : each.machine * latency_of(pipe) / kParallelism;
  }
  return cycles;
}

/// Sectors that loads of `block` ask for in one execution by one warp.
double sectors_per_execution(const ir::Kernel& kernel, const Counts& counts,
                             const ir::KernelBlock& block, double executions) {
  double sectors = 0;
  for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
    const std::uint32_t a = kernel.instructions[i].access;
    if (a != ir::kNothing && waits(kernel.accesses[a]) &&
        counts.accesses[a].space == MemorySpace::kGlobal) {
      sectors += counts.accesses[a].sectors;
    }
  }
  return sectors / executions;
}

}  // namespace

double chain_cycles(const ir::Kernel& kernel, const Counts& counts, const LoadLatency& latency,
                    double warps) {
  double cycles = 0;
  for (const ir::KernelBlock& block : kernel.blocks) {
    if (block.count == 0 || counts.warp[block.first] == 0) {
      continue;
    }
    const double executions = counts.warp[block.first];
    const double per_warp = executions / warps;
    const Rounds rounds = rounds_of(kernel, counts, block);
    double each = arithmetic_cycles(kernel, block) + rounds.shared * latency.shared;
    if (rounds.global > 0) {
      const double sectors =
          sectors_per_execution(kernel, counts, block, executions) / rounds.global;
      const double past_l1 = 1 - std::exp(-sectors * latency.l2_per_sector);
      const double past_l2 = 1 - std::exp(-sectors * latency.dram_per_sector);
      const double together = rounds.chased ? 1 : block.unrolled;
      each += rounds.global / together *
              (latency.l1 + past_l1 * (latency.l2 - latency.l1) +
               past_l2 * (latency.dram - latency.l2));
    }
    cycles += per_warp * each;
  }
  return cycles;
}

}  // namespace mansard::model::kernel
