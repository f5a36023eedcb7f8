#include "frontend/ptx/lower/predicate.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace mansard::frontend::ptx {
namespace {

using ir::KernelBlock;
using ir::KernelInstruction;
using ir::kNothing;

constexpr std::uint32_t kLongest =
    7;  ///< Instructions of a piece; longer ones stay behind a branch.

std::vector<std::uint32_t> entries_of(const ir::Kernel& kernel) {
  std::vector<std::uint32_t> entries(kernel.blocks.size());
  const auto enter = [&](std::uint32_t block) {
    if (block != kNothing) {
      ++entries[block];
    }
  };
  for (const KernelBlock& each : kernel.blocks) {
    enter(each.taken);
    enter(each.next);
    std::ranges::for_each(each.targets, enter);
  }
  return entries;
}

/// Neither a barrier nor a branch of its own.
bool is_plain(const ir::Kernel& kernel, const KernelBlock& block) {
  const auto body = std::span(kernel.instructions).subspan(block.first, block.count);
  return std::ranges::none_of(body, [&](const KernelInstruction& each) {
    const bool control = each.machine > 0 && kernel.classes[each.kind].pipe == ir::Pipe::kBranch;
    return each.barrier || control || each.guard != kNothing;
  });
}

/// What predicated pieces may leave as it was needs its value before: a move that is otherwise
/// taken away becomes an instruction.
void keep_defaults(ir::Kernel& kernel, const std::vector<bool>& written) {
  for (KernelInstruction& each : kernel.instructions) {
    if (each.op == ir::KernelOp::kMove && each.machine == 0 && each.destination != kNothing &&
        written[each.destination]) {
      each.machine = 1;
    }
  }
}

}  // namespace

void mark_predicated(ir::Kernel& kernel) {
  const std::vector<std::uint32_t> entries = entries_of(kernel);
  std::vector<bool> written(kernel.registers.size());  // by pieces
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    const KernelBlock& head = kernel.blocks[b];
    if (head.predicate == kNothing || head.next == kNothing || head.count == 0 ||
        !head.targets.empty()) {
      continue;
    }
    KernelBlock& piece = kernel.blocks[head.next];
    const bool skipped = piece.predicate == kNothing && piece.taken == head.taken &&
                         piece.taken != kNothing && entries[head.next] == 1 && head.next != b;
    if (skipped && piece.count > 0 && piece.count <= kLongest && !piece.cold &&
        is_plain(kernel, piece)) {
      piece.predicated_by = b;
      for (const KernelInstruction& each :
           std::span(kernel.instructions).subspan(piece.first, piece.count)) {
        if (each.destination != kNothing) {
          written[each.destination] = true;
        }
      }
      kernel.instructions[head.first + head.count - 1].machine = 0;
    }
  }
  keep_defaults(kernel, written);
}

}  // namespace mansard::frontend::ptx
