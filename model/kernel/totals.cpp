#include "model/kernel/totals.hpp"

#include <algorithm>

namespace mansard::model::kernel {
namespace {

using ir::AccessKind;
using ir::MemorySpace;

/// Every kernel begins by setting its stack and loading the descriptor of global memory.
constexpr double kPrologue = 2;

void add(GlobalTotals& to, const AccessCounts& counts) {
  to.requests += counts.requests;
  to.sectors += counts.sectors;
  to.bytes += counts.bytes;
}

void add(SharedTotals& to, const AccessCounts& counts) {
  to.requests += counts.requests;
  to.wavefronts += counts.wavefronts;
  to.bank_conflicts += counts.wavefronts - counts.ideal;
}

bool writes(const ir::KernelAccess& access) {
  return access.kind == AccessKind::kStore ||
         (access.kind == AccessKind::kBulkCopy && access.type == "store");
}

void add_access(Totals& totals, const ir::KernelAccess& access, const AccessCounts& counts) {
  const bool atomic = access.kind == AccessKind::kAtomic || access.kind == AccessKind::kReduction;
  if (access.kind == AccessKind::kPrefetch) {
    return;
  }
  if (counts.space == MemorySpace::kShared) {
    add(writes(access) || atomic ? totals.shared_store : totals.shared_load, counts);
    return;
  }
  if (counts.space == MemorySpace::kLocal) {
    // Lanes interleave by words: what a warp moves is contiguous.
    AccessCounts words = counts;
    words.sectors = counts.bytes / kSectorBytes;
    add(writes(access) ? totals.local_store : totals.local_load, words);
    totals.l1_lines += counts.bytes / kLineBytes;
    return;
  }
  if (counts.space != MemorySpace::kGlobal) {
    return;
  }
  if (atomic) {
    add(totals.atomics, counts);
    totals.atomic_serial += counts.serial;
  } else {
    add(writes(access) ? totals.global_store : totals.global_load, counts);
  }
  if (access.kind == AccessKind::kBulkCopy) {
    totals.bulk_bytes += counts.bytes;
  } else {
    totals.l1_lines += counts.lines;
  }
}

}  // namespace

std::vector<double> issued_warps(const ir::Kernel& kernel, const Counts& counts) {
  std::vector<double> issued = counts.warp;
  for (const ir::KernelBlock& block : kernel.blocks) {
    if (block.predicated_by != ir::kNothing) {
      const double warps = counts.warp[kernel.blocks[block.predicated_by].first];
      std::fill_n(issued.begin() + block.first, block.count, warps);
    }
  }
  return issued;
}

Totals totals_of(const ir::Kernel& kernel, const Counts& counts) {
  Totals totals;
  const std::vector<double> issued = issued_warps(kernel, counts);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const ir::KernelInstruction& each = kernel.instructions[i];
    const ir::InstructionClass& kind = kernel.classes[each.kind];
    const double warps = counts.warp[i];
    const double threads = counts.thread[i];
    totals.thread_instructions += threads * kind.written;
    totals.ptx_warp_instructions += warps * kind.written;
    double machine = each.machine;
    if (each.access != ir::kNothing && kernel.accesses[each.access].requests > 1) {
      machine *= kernel.accesses[each.access].requests;
    }
    totals.warp_instructions += issued[i] * machine;
    totals.warp_instructions_low += issued[i] * std::min(machine, kind.machine_low);
    totals.warp_instructions_high += issued[i] * std::max(machine, kind.machine_high);
    totals.pipes[static_cast<std::size_t>(kind.pipe)] += issued[i] * machine;
    totals.flops_fp32 += threads * kind.flops_fp32;
    totals.flops_fp64 += threads * kind.flops_fp64;
    totals.flops_fp16 += threads * kind.flops_fp16;
    totals.special += threads * kind.special;
    if (kind.tensor_flops > 0) {
      totals.flops_tensor += warps * kind.tensor_flops;
      totals.tensor_by_type[kind.tensor_type] += warps * kind.tensor_flops;
    }
  }
  if (!kernel.blocks.empty() && kernel.blocks[0].count > 0) {
    const double warps = counts.warp[kernel.blocks[0].first];
    for (double* each : {&totals.warp_instructions, &totals.warp_instructions_low,
                         &totals.warp_instructions_high}) {
      *each += kPrologue * warps;
    }
    totals.pipes[static_cast<std::size_t>(ir::Pipe::kUniform)] += kPrologue * warps;
  }
  for (std::size_t a = 0; a < kernel.accesses.size(); ++a) {
    add_access(totals, kernel.accesses[a], counts.accesses[a]);
  }
  return totals;
}

}  // namespace mansard::model::kernel
