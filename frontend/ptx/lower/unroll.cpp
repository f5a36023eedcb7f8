#include "frontend/ptx/lower/unroll.hpp"

#include <algorithm>
#include <span>

namespace mansard::frontend::ptx {
namespace {

using ir::KernelBlock;
using ir::KernelInstruction;
using ir::KernelOp;
using ir::KernelOperand;
using ir::kNothing;
using Kind = KernelOperand::Kind;

constexpr std::uint32_t kTimes = 4;
constexpr std::uint32_t kLongest = 128;  ///< Instructions; longer bodies are left alone.

/// r = r + constant.
bool advances(const KernelInstruction& each) {
  return (each.op == KernelOp::kAdd || each.op == KernelOp::kSub) &&
         each.operands[0].kind == Kind::kRegister && each.operands[0].id == each.destination &&
         each.operands[1].kind == Kind::kImmediate;
}

class Loop {
 public:
  Loop(ir::Kernel& kernel, KernelBlock& block)
      : block_(block),
        body_(std::span(kernel.instructions).subspan(block.first, block.count)),
        classes_(kernel.classes) {}

  void mark(std::uint32_t self) {
    const bool repeats =
        block_.predicate != kNothing && (block_.taken == self || block_.next == self);
    if (!repeats || block_.count > kLongest || !counts() ||
        std::ranges::any_of(body_, &KernelInstruction::barrier)) {
      return;
    }
    block_.unrolled = kTimes;
    for (KernelInstruction& each : body_) {
      const bool control = each.destination == block_.predicate ||
                           classes_[each.kind].pipe == ir::Pipe::kBranch || advances(each);
      if (control) {
        each.machine /= kTimes;
      }
    }
  }

 private:
  [[nodiscard]] std::ptrdiff_t writes(std::uint32_t reg) const {
    return std::ranges::count_if(body_, [&](const KernelInstruction& each) {
      return each.destination == reg || each.destination2 == reg;
    });
  }

  /// One side of the comparison is advanced by a constant, the other stays.
  [[nodiscard]] bool counts() const {
    const auto compare = std::ranges::find_if(body_, [&](const KernelInstruction& each) {
      return each.op == KernelOp::kCompare && each.destination == block_.predicate;
    });
    if (compare == body_.end() || writes(block_.predicate) != 1 ||
        compare->operands[2].kind != Kind::kNone) {
      return false;
    }
    const KernelOperand& a = compare->operands[0];
    const KernelOperand& b = compare->operands[1];
    return (steps(a) && stays(b)) || (steps(b) && stays(a));
  }
  [[nodiscard]] bool steps(const KernelOperand& operand) const {
    return operand.kind == Kind::kRegister && writes(operand.id) == 1 &&
           std::ranges::any_of(body_, [&](const KernelInstruction& each) {
             return each.destination == operand.id && advances(each);
           });
  }
  [[nodiscard]] bool stays(const KernelOperand& operand) const {
    return operand.kind != Kind::kRegister || writes(operand.id) == 0;
  }

  KernelBlock& block_;
  std::span<KernelInstruction> body_;
  const std::vector<ir::InstructionClass>& classes_;
};

}  // namespace

void mark_unrolled(ir::Kernel& kernel) {
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    Loop(kernel, kernel.blocks[b]).mark(b);
  }
}

}  // namespace mansard::frontend::ptx
