#include "frontend/ptx/lower/pointers.hpp"

#include <vector>

namespace mansard::frontend::ptx {
namespace {

using ir::KernelOp;
using Kind = ir::KernelOperand::Kind;

/// Operands of an instruction that carry the object an address lies in.
std::vector<std::size_t> carriers(const ir::KernelInstruction& each) {
  switch (each.op) {
    case KernelOp::kMove:
    case KernelOp::kToGeneric:
    case KernelOp::kFromGeneric:
    case KernelOp::kSub:
    case KernelOp::kConvert:
    case KernelOp::kAnd:
    case KernelOp::kOr:
      return {0};
    case KernelOp::kAdd:
    case KernelOp::kSelect:
      return {0, 1};
    case KernelOp::kMad:
    case KernelOp::kMadWide:
      return {2};
    default:
      return {};
  }
}

}  // namespace

void mark_pointers(ir::Kernel& kernel) {
  std::vector<std::vector<std::uint32_t>> writers(kernel.registers.size());
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    if (kernel.instructions[i].destination != ir::kNothing) {
      writers[kernel.instructions[i].destination].push_back(i);
    }
  }
  std::vector<bool> seen(kernel.registers.size());
  std::vector<std::uint32_t> work;
  const auto follow = [&](const ir::KernelOperand& operand) {
    if (operand.kind == Kind::kParameter && kernel.parameters[operand.id].bytes == 8 &&
        !kernel.parameters[operand.id].is_float) {
      kernel.parameters[operand.id].is_pointer = true;
    } else if (operand.kind == Kind::kRegister && !seen[operand.id]) {
      seen[operand.id] = true;
      work.push_back(operand.id);
    }
  };
  for (const ir::KernelAccess& access : kernel.accesses) {
    if (access.space != ir::MemorySpace::kShared && access.space != ir::MemorySpace::kLocal) {
      follow(access.address);
    }
  }
  while (!work.empty()) {
    const std::uint32_t reg = work.back();
    work.pop_back();
    for (const std::uint32_t i : writers[reg]) {
      for (const std::size_t n : carriers(kernel.instructions[i])) {
        follow(kernel.instructions[i].operands[n]);
      }
    }
  }
}

}  // namespace mansard::frontend::ptx
