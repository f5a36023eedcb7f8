#include "frontend/ptx/lower/arithmetic.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace mansard::frontend::ptx {
namespace {

using ir::Comparison;
using ir::KernelInstruction;
using ir::KernelOp;
using ir::KernelOperand;

bool is_float(Type type) {
  return kind_of(type) == TypeKind::kFloat || kind_of(type) == TypeKind::kFloatPacked ||
         kind_of(type) == TypeKind::kSignedPacked || kind_of(type) == TypeKind::kUnsignedPacked;
}

/// Opcodes of one operation on operands of one type, whatever their modifiers.
constexpr std::pair<std::string_view, KernelOp> kSimple[] = {
    {"add", KernelOp::kAdd},   {"sub", KernelOp::kSub},     {"div", KernelOp::kDiv},
    {"rem", KernelOp::kRem},   {"shl", KernelOp::kShl},     {"shr", KernelOp::kShr},
    {"and", KernelOp::kAnd},   {"or", KernelOp::kOr},       {"xor", KernelOp::kXor},
    {"not", KernelOp::kNot},   {"neg", KernelOp::kNeg},     {"abs", KernelOp::kAbs},
    {"min", KernelOp::kMin},   {"max", KernelOp::kMax},     {"bfe", KernelOp::kExtract},
    {"lop3", KernelOp::kLop3}, {"selp", KernelOp::kSelect},
};

constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"eq", Comparison::kEqual},   {"ne", Comparison::kNotEqual},
    {"lt", Comparison::kLess},    {"le", Comparison::kLessEqual},
    {"gt", Comparison::kGreater}, {"ge", Comparison::kGreaterEqual},
    {"lo", Comparison::kLess},    {"ls", Comparison::kLessEqual},
    {"hi", Comparison::kGreater}, {"hs", Comparison::kGreaterEqual},
};

constexpr std::pair<std::string_view, ir::ShuffleMode> kShuffles[] = {
    {"idx", ir::ShuffleMode::kIndex},
    {"up", ir::ShuffleMode::kUp},
    {"down", ir::ShuffleMode::kDown},
    {"bfly", ir::ShuffleMode::kButterfly},
};

class Arithmetic {
 public:
  Arithmetic(Operands& operands, const Instruction& source, KernelInstruction& each)
      : operands_(operands), source_(source), each_(each), type_(source.form->type()) {}

  void run() {
    const std::string_view op = source_.opcode();
    if (op == "setp") {
      compare();
    } else if (op == "mov") {
      move();
    } else if (op == "ld") {
      load_parameter();
    } else if (op == "cvta") {
      convert_address();
    } else if (op == "cvt") {
      convert();
    } else if (op == "mul" || op == "mad" || op == "mul24" || op == "mad24") {
      multiply();
    } else if (op == "shfl") {
      shuffle();
    } else if (op == "elect") {
      each_.op = KernelOp::kElect;
      std::swap(each_.destination, each_.destination2);
    } else if (op == "mbarrier" && (source_.has("try_wait") || source_.has("test_wait"))) {
      each_.op = KernelOp::kAlways;
    } else {
      simple();
    }
  }

 private:
  void take(KernelOp op, std::size_t operands, std::size_t from = 1) {
    each_.op = op;
    each_.bits = static_cast<std::uint8_t>(bits_of(type_));
    each_.source_bits = each_.bits;
    each_.is_signed = kind_of(type_) == TypeKind::kSigned;
    each_.source_signed = each_.is_signed;
    for (std::size_t i = 0; i < operands && i < 4; ++i) {
      each_.operands[i] = operands_.convert(source_, from + i);
      if (each_.operands[i].kind == KernelOperand::Kind::kNone) {
        each_.op = KernelOp::kOpaque;
      }
    }
    if (bits_of(type_) > 64 || bits_of(type_) == 0) {
      each_.op = KernelOp::kOpaque;
    }
  }

  void simple() {
    const auto found = std::find_if(std::begin(kSimple), std::end(kSimple), [&](const auto& each) {
      return each.first == source_.opcode();
    });
    if (found == std::end(kSimple) || is_float(type_) || source_.has("cc") || source_.has("sat") ||
        each_.destination == ir::kNothing) {
      return;
    }
    take(found->second, std::min<std::size_t>(4, source_.operands.count - 1));
  }

  void compare() {
    if (is_float(type_)) {
      return;
    }
    const auto found = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                                    [&](const auto& each) { return source_.has(each.first); });
    if (found == std::end(kComparisons) || source_.has("xor")) {
      return;
    }
    take(KernelOp::kCompare, source_.operands.count - 1);
    each_.comparison = found->second;
    each_.combine_or = source_.has("or");
  }

  void move() {
    if (source_.operands.count < 2) {
      return;
    }
    const Operand& to = operands_.function().operand(source_, 0);
    if (to.kind == OperandKind::kRegister && to.component == Component::kNone) {
      take(KernelOp::kMove, 1);
    }
  }

  void load_parameter() {
    const Operand& to = operands_.function().operand(source_, 0);
    if (source_.form->space != Space::kParam || source_.operands.count < 2 ||
        to.kind != OperandKind::kRegister) {
      return;
    }
    const KernelOperand parameter = operands_.parameter(operands_.function().operand(source_, 1),
                                                        bytes_of(type_), is_float(type_));
    if (parameter.kind == KernelOperand::Kind::kParameter) {
      take(KernelOp::kMove, 0);
      each_.op = KernelOp::kMove;
      each_.operands[0] = parameter;
    }
  }

  void convert_address() {
    const bool shared = source_.form->space == Space::kShared;
    const bool local = source_.form->space == Space::kLocal;
    take(KernelOp::kMove, 1);
    if ((shared || local) && each_.op == KernelOp::kMove) {
      each_.op = source_.has("to") ? KernelOp::kFromGeneric : KernelOp::kToGeneric;
      each_.operands[1] = {.kind = KernelOperand::Kind::kImmediate,
                           .value = shared ? ir::kSharedWindow : ir::kLocalWindow};
    }
  }

  void convert() {
    const Type to = source_.form->type(0);
    const Type from = source_.form->type(1);
    if (is_float(to) || is_float(from) || source_.has("sat")) {
      return;
    }
    type_ = to;
    take(KernelOp::kConvert, 1);
    each_.source_bits = static_cast<std::uint8_t>(bits_of(from));
    each_.source_signed = kind_of(from) == TypeKind::kSigned;
  }

  void multiply() {
    if (is_float(type_) || source_.has("sat")) {
      return;
    }
    const bool adds = source_.opcode().starts_with("mad");
    if (source_.has("wide")) {
      take(adds ? KernelOp::kMadWide : KernelOp::kMulWide, adds ? 3 : 2);
    } else if (source_.has("hi")) {
      if (!adds && source_.opcode() == "mul") {
        take(KernelOp::kMulHigh, 2);
      }
    } else {
      take(adds ? KernelOp::kMad : KernelOp::kMul, adds ? 3 : 2);
    }
  }

  void shuffle() {
    const auto found = std::find_if(std::begin(kShuffles), std::end(kShuffles),
                                    [&](const auto& each) { return source_.has(each.first); });
    if (found == std::end(kShuffles)) {
      return;
    }
    take(KernelOp::kShuffle, 3);
    each_.mode = found->second;
  }

  Operands& operands_;
  const Instruction& source_;
  KernelInstruction& each_;
  Type type_;
};

}  // namespace

void lower_arithmetic(Operands& operands, const Instruction& source, ir::KernelInstruction& each) {
  Arithmetic(operands, source, each).run();
}

}  // namespace mansard::frontend::ptx
