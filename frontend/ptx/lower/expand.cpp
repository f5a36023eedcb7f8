#include "frontend/ptx/lower/expand.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace mansard::frontend::ptx {
namespace {

using ir::KernelInstruction;
using ir::KernelOp;
using ir::kNothing;
using Kind = ir::KernelOperand::Kind;

class Expansion {
 public:
  explicit Expansion(ir::Kernel& kernel)
      : kernel_(kernel),
        writers_(kernel.registers.size()),
        readers_(kernel.registers.size()),
        addresses_(kernel.registers.size()) {
    index();
  }

  void run() {
    for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
      KernelInstruction& each = kernel_.instructions[i];
      if (each.op == KernelOp::kMove) {
        move(each);
      } else if (each.op == KernelOp::kMulWide) {
        product(each);
      } else if (each.op == KernelOp::kAdd || each.op == KernelOp::kSub) {
        sum(each);
      } else if (each.op == KernelOp::kMul && each.bits == 32) {
        feeds_sum(each);
      } else if (each.op == KernelOp::kShl && each.bits == 32) {
        feeds_sum(each);
      } else if (each.op == KernelOp::kAnd || each.op == KernelOp::kOr ||
                 each.op == KernelOp::kXor) {
        logic(each);
      } else if (each.op == KernelOp::kDiv || each.op == KernelOp::kRem) {
        by_constant(each);
      } else if (each.op == KernelOp::kMadWide) {
        each.machine = 1;
      }
    }
  }

 private:
  void index() {
    for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
      const KernelInstruction& each = kernel_.instructions[i];
      if (each.destination != kNothing) {
        writers_[each.destination].push_back(i);
      }
      for (const ir::KernelOperand& operand : each.operands) {
        if (operand.kind == Kind::kRegister) {
          readers_[operand.id].push_back(i);
        }
      }
      if (each.access != kNothing &&
          kernel_.accesses[each.access].address.kind == Kind::kRegister) {
        ++addresses_[kernel_.accesses[each.access].address.id];
      }
    }
  }

  void move(KernelInstruction& each) {
    const ir::KernelOperand& from = each.operands[0];
    if (from.kind == Kind::kParameter || from.kind == Kind::kSpecial) {
      each.machine = 1;
    }
  }

  /// A wide product whose readers are all 64-bit sums is done in them.
  void product(KernelInstruction& each) {
    const std::vector<std::uint32_t>& readers = readers_[each.destination];
    const bool all = !readers.empty() && addresses_[each.destination] == 0 &&
                     std::all_of(readers.begin(), readers.end(), [&](std::uint32_t i) {
                       return kernel_.instructions[i].op == KernelOp::kAdd;
                     });
    each.machine = all ? 0 : 1;
  }

  [[nodiscard]] const KernelInstruction* only_writer(const ir::KernelOperand& operand) const {
    if (operand.kind != Kind::kRegister || writers_[operand.id].size() != 1) {
      return nullptr;
    }
    return &kernel_.instructions[writers_[operand.id][0]];
  }

  void sum(KernelInstruction& each) {
    const bool constant = each.operands[1].kind == Kind::kImmediate;
    const bool only_addresses = each.destination != kNothing &&
                                readers_[each.destination].empty() &&
                                addresses_[each.destination] > 0;
    if (constant && only_addresses) {
      each.machine = 0;  // folded into the offset of the access
      return;
    }
    if (each.bits != 64) {
      feeds_sum(each);
      return;
    }
    for (const ir::KernelOperand& operand : each.operands) {
      const KernelInstruction* writer = only_writer(operand);
      if (writer != nullptr && writer->op == KernelOp::kMulWide) {
        each.machine = 1;
        return;
      }
    }
    each.machine = 2;
  }

  /// A 32-bit sum, product or shift whose one reader is a 32-bit sum: IADD3, IMAD, LEA.
  void feeds_sum(KernelInstruction& each) {
    if (each.destination == kNothing || readers_[each.destination].size() != 1 ||
        addresses_[each.destination] > 0 || writers_[each.destination].size() != 1) {
      return;
    }
    const KernelInstruction& reader = kernel_.instructions[readers_[each.destination][0]];
    if ((reader.op == KernelOp::kAdd || reader.op == KernelOp::kSub) && reader.bits == 32 &&
        !taken(reader)) {
      each.machine = 0;
      taken_.insert(&reader);
    }
  }

  [[nodiscard]] bool taken(const KernelInstruction& reader) const {
    return taken_.contains(&reader);
  }

  /// Two operations on three inputs are one LOP3.
  void logic(KernelInstruction& each) {
    if (each.bits == 1 || each.destination == kNothing || readers_[each.destination].size() != 1 ||
        addresses_[each.destination] > 0) {
      return;
    }
    const KernelInstruction& reader = kernel_.instructions[readers_[each.destination][0]];
    const bool joins = (reader.op == KernelOp::kAnd || reader.op == KernelOp::kOr ||
                        reader.op == KernelOp::kXor) &&
                       reader.bits == each.bits && !taken(reader);
    if (joins) {
      each.machine = 0;
      taken_.insert(&reader);
    }
  }

  static void by_constant(KernelInstruction& each) {
    if (each.operands[1].kind != Kind::kImmediate) {
      return;
    }
    const std::int64_t divisor = each.operands[1].value;
    const bool power = divisor > 0 && (divisor & (divisor - 1)) == 0;
    each.machine = power ? (each.is_signed ? 3 : 1) : 4;
    if (each.op == KernelOp::kRem) {
      each.machine += 1;
    }
  }

  ir::Kernel& kernel_;
  std::vector<std::vector<std::uint32_t>> writers_;
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<std::uint32_t> addresses_;
  std::unordered_set<const KernelInstruction*> taken_;
};

}  // namespace

void expand(ir::Kernel& kernel) {
  Expansion(kernel).run();
}

}  // namespace mansard::frontend::ptx
