#include "frontend/ptx/lower/merge_loads.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

namespace mansard::frontend::ptx {
namespace {

using ir::AccessKind;
using ir::KernelAccess;
using ir::KernelInstruction;
using ir::KernelOp;
using ir::KernelOperand;
using ir::kNothing;
using ir::MemorySpace;
using Kind = KernelOperand::Kind;

constexpr unsigned kMostZeros = 4;  ///< Alignment beyond 16 bytes is of no use here.

unsigned zeros_of(std::int64_t value) {
  return value == 0 ? kMostZeros
                    : std::min<unsigned>(kMostZeros, static_cast<unsigned>(std::countr_zero(
                                                         static_cast<std::uint64_t>(value))));
}

/// How many low bits of each register are certainly zero: the greatest solution, from above, so
/// that a register that a loop advances by a multiple keeps its alignment.
class Alignment {
 public:
  explicit Alignment(const ir::Kernel& kernel) : zeros_(kernel.registers.size(), kMostZeros) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const KernelInstruction& each : kernel.instructions) {
        changed |= lower(each.destination, of_result(each));
        changed |= lower(each.destination2, 0);
      }
    }
  }

  [[nodiscard]] unsigned of(const KernelOperand& operand) const {
    switch (operand.kind) {
      case Kind::kRegister:
        return std::min(zeros_[operand.id], zeros_of(operand.value));
      case Kind::kImmediate:
        return zeros_of(operand.value);
      case Kind::kNone:
        return kMostZeros;
      case Kind::kSpecial:
      case Kind::kParameter:
        break;
    }
    return 0;
  }

 private:
  bool lower(std::uint32_t to, unsigned zeros) {
    if (to == kNothing || zeros_[to] <= zeros) {
      return false;
    }
    zeros_[to] = zeros;
    return true;
  }

  [[nodiscard]] unsigned of_result(const KernelInstruction& each) const {
    const unsigned a = of(each.operands[0]);
    const unsigned b = of(each.operands[1]);
    const unsigned c = of(each.operands[2]);
    switch (each.op) {
      case KernelOp::kMove:
      case KernelOp::kConvert:
      case KernelOp::kToGeneric:
      case KernelOp::kFromGeneric:
      case KernelOp::kNeg:
        return a;
      case KernelOp::kAdd:
      case KernelOp::kSub:
      case KernelOp::kOr:
      case KernelOp::kXor:
      case KernelOp::kSelect:
      case KernelOp::kMin:
      case KernelOp::kMax:
        return std::min(a, b);
      case KernelOp::kAnd:
        return std::max(a, b);
      case KernelOp::kMul:
      case KernelOp::kMulWide:
        return std::min(kMostZeros, a + b);
      case KernelOp::kMad:
      case KernelOp::kMadWide:
        return std::min({kMostZeros, a + b, c});
      case KernelOp::kShl:
        return each.operands[1].kind == Kind::kImmediate
                   ? static_cast<unsigned>(
                         std::clamp<std::int64_t>(each.operands[1].value + a, 0, kMostZeros))
                   : a;
      default:
        return 0;
    }
  }

  std::vector<unsigned> zeros_;
};

class Merger {
 public:
  explicit Merger(ir::Kernel& kernel) : kernel_(kernel), alignment_(kernel) {}

  void run() {
    for (const ir::KernelBlock& block : kernel_.blocks) {
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
        visit(i);
      }
      close_all();
    }
  }

 private:
  struct Word {
    std::int64_t offset = 0;
    std::uint32_t instruction = 0;
  };
  struct Group {
    std::uint32_t bytes = 4;
    std::vector<Word> words;
  };

  void visit(std::uint32_t i) {
    const KernelInstruction& each = kernel_.instructions[i];
    if (each.barrier) {
      close_all();
    }
    if (each.access != kNothing) {
      const KernelAccess& access = kernel_.accesses[each.access];
      const bool in_shared =
          access.space == MemorySpace::kShared || access.space == MemorySpace::kGeneric;
      if (in_shared && access.kind != AccessKind::kLoad) {
        close_all();
      } else if (can_join(each, access)) {
        Group& group = groups_[access.address.id];
        if (group.bytes != access.bytes) {
          close(group);
          group.bytes = access.bytes;
        }
        group.words.push_back({access.address.value, i});
      }
    }
    for (const std::uint32_t to : {each.destination, each.destination2}) {
      if (const auto found = groups_.find(to); found != groups_.end()) {
        close(found->second);
        groups_.erase(found);
      }
    }
  }

  [[nodiscard]] bool can_join(const KernelInstruction& each, const KernelAccess& access) const {
    return each.guard == kNothing && access.space == MemorySpace::kShared &&
           access.kind == AccessKind::kLoad && access.shape == ir::AccessShape::kLanes &&
           access.vector == 1 && (access.bytes == 4 || access.bytes == 8) &&
           access.address.kind == Kind::kRegister &&
           kernel_.classes[each.kind].name.find("volatile") == std::string::npos;
  }

  void close_all() {
    for (auto& [base, group] : groups_) {
      close(group);
    }
    groups_.clear();
  }

  /// Words of one aligned 16 bytes, else of 8, are one load.
  void close(Group& group) {
    std::vector<Word>& words = group.words;
    std::ranges::sort(words, {}, &Word::offset);
    for (std::size_t i = 0; i < words.size();) {
      std::size_t taken = 1;
      for (const std::uint32_t bytes : {16U, 8U}) {
        const std::size_t count = bytes / group.bytes;
        if (taken == 1 && count > 1 && starts(group, i, count, bytes)) {
          join(group, i, count, bytes);
          taken = count;
        }
      }
      i += taken;
    }
    words.clear();
  }

  [[nodiscard]] bool starts(const Group& group, std::size_t at, std::size_t count,
                            std::uint32_t bytes) const {
    const std::vector<Word>& words = group.words;
    if (at + count > words.size()) {
      return false;
    }
    for (std::size_t i = 1; i < count; ++i) {
      if (words[at + i].offset != words[at].offset + static_cast<std::int64_t>(i * group.bytes)) {
        return false;
      }
    }
    const KernelInstruction& first = kernel_.instructions[words[at].instruction];
    return (1U << alignment_.of(kernel_.accesses[first.access].address)) >= bytes;
  }

  /// The load that comes first in the program stands for all.
  void join(const Group& group, std::size_t at, std::size_t count, std::uint32_t bytes) {
    const auto begin = group.words.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    const std::uint32_t keeper =
        std::ranges::min_element(begin, end, {}, &Word::instruction)->instruction;
    KernelAccess& access = kernel_.accesses[kernel_.instructions[keeper].access];
    access.address.value = begin->offset;
    access.bytes = bytes;
    access.vector = static_cast<std::uint32_t>(count);
    for (auto word = begin; word != end; ++word) {
      if (word->instruction != keeper) {
        kernel_.instructions[word->instruction].access = kNothing;
        kernel_.instructions[word->instruction].machine = 0;
      }
    }
  }

  ir::Kernel& kernel_;
  Alignment alignment_;
  std::map<std::uint32_t, Group> groups_;
};

}  // namespace

void merge_shared_loads(ir::Kernel& kernel) {
  Merger(kernel).run();
}

}  // namespace mansard::frontend::ptx
