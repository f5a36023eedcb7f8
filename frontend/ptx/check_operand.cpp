#include "frontend/ptx/check_operand.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "frontend/ptx/special_registers.hpp"
#include "support/text.hpp"

namespace mansard::frontend::ptx {
namespace {

bool is_integer(TypeKind kind) {
  return kind == TypeKind::kUnsigned || kind == TypeKind::kSigned;
}

Type twice_as_wide(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    default:
      return Type::kS64;
  }
}

/// Whether a number, as it was written, may stand where an instruction means `type`.
bool immediate_fits(Type type, const Operand& operand, bool has_float_bits) {
  const bool is_float = operand.kind != OperandKind::kInteger;
  switch (kind_of(type)) {
    case TypeKind::kFloat:
      return is_float && (type == Type::kF32 || type == Type::kF64);
    case TypeKind::kBits:
      return !is_float || has_float_bits;
    case TypeKind::kFloatPacked:
      return type == Type::kF32x2 && is_float;
    default:
      return !is_float;
  }
}

bool is_number(const Operand& operand) {
  return operand.kind == OperandKind::kInteger || operand.kind == OperandKind::kFloat32 ||
         operand.kind == OperandKind::kFloat64;
}

/// The number in a modifier such as "x16"; 0 if it is none.
unsigned number_in(std::string_view text, std::size_t from) {
  unsigned number = 0;
  std::from_chars(text.data() + from, text.data() + text.size(), number);
  return number;
}

/// Registers of a thread: of `tcgen05.ld.16x256b.x2` 8, of `wgmma.m64n128k16.f32` 64.
unsigned count_of_shape(const Form& form) {
  unsigned count = 1;
  for (const std::string_view modifier : form.modifiers) {
    if (modifier == "16x128b") {
      count *= 2;
    } else if (modifier == "16x256b") {
      count *= 4;
    } else if (modifier.size() > 1 && modifier[0] == 'x') {
      count *= number_in(modifier, 1);
    } else if (modifier.substr(0, 4) == "m64n") {
      return number_in(modifier, 4) / (form.type(0) == Type::kF16 ? 4 : 2);
    }
  }
  return count;
}

/// Looks at one instruction.
class OperandChecker {
 public:
  OperandChecker(const Module& module, const Function& function, const Instruction& instruction,
                 const Match& match)
      : module_(module), function_(function), instruction_(instruction), match_(match) {
    const std::string_view opcode = instruction.opcode();
    may_be_wider_ = opcode == "ld" || opcode == "st" || opcode == "ldu" || opcode == "cvt";
    takes_special_ = opcode == "cvt";
  }

  OperandProblem run() {
    for (const OperandSpec& spec : match_.signature->operands) {
      if (spec.only_with.empty() || instruction_.has(spec.only_with)) {
        specs_.push_back(&spec);
      }
    }
    const std::span<const Operand> operands = function_.operands_of(instruction_);
    const std::size_t required = required_from(0);
    if (operands.size() < required || operands.size() > specs_.size()) {
      return count_problem(required, operands.size());
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < specs_.size() && next < operands.size(); ++i) {
      // An operand that may be left out, before others that may not: `bar.red 0, %p`.
      if (specs_[i]->is_optional && operands.size() - next <= required_from(i)) {
        continue;
      }
      check(*specs_[i], operands[next++]);
      if (!problem_.message.empty()) {
        return problem_;
      }
    }
    return problem_;
  }

 private:
  [[nodiscard]] std::size_t required_from(std::size_t first) const {
    return static_cast<std::size_t>(
        std::count_if(specs_.begin() + static_cast<std::ptrdiff_t>(first), specs_.end(),
                      [](const OperandSpec* spec) { return !spec->is_optional; }));
  }

  OperandProblem count_problem(std::size_t required, std::size_t found) const {
    const std::size_t most = specs_.size();
    const std::string expected =
        required == most ? std::to_string(most) : fmt::format("{} to {}", required, most);
    return {fmt::format("'{}' takes {} operand{}, found {}", instruction_.opcode(), expected,
                        most == 1 ? "" : "s", found),
            instruction_.position, instruction_.end};
  }

  void complain(const Operand& operand, std::string_view expected) {
    const std::string_view text = module_.source->text;
    const std::string_view found = text.substr(operand.position, operand.end - operand.position);
    constexpr std::size_t kLongest = 60;
    problem_ = {
        fmt::format("expected {}, found '{}'", expected, printable(found.substr(0, kLongest))),
        operand.position, operand.end};
  }

  [[nodiscard]] Type wanted(const OperandSpec& spec) const {
    if (spec.type != Type::kNone) {
      return spec.type;
    }
    if (spec.by_shape && match_.types.front() == Type::kF16) {
      return Type::kF16x2;
    }
    const Type type =
        spec.type_number < match_.types.size() ? match_.types[spec.type_number] : Type::kNone;
    return spec.is_wide ? twice_as_wide(type) : type;
  }

  void check(const OperandSpec& spec, const Operand& operand) {
    if (operand.kind == OperandKind::kPair) {
      return check_pair(spec, operand);
    }
    if (spec.must_pair) {
      return complain(operand, "a destination and a predicate behind '|'");
    }
    check_single(spec, operand);
  }

  void check_pair(const OperandSpec& spec, const Operand& operand) {
    if (spec.role == Role::kAny) {
      return;
    }
    if (!spec.may_pair) {
      return complain(operand, "one destination");
    }
    const std::span<const Operand> both = function_.children(operand);
    OperandSpec first = spec;
    first.may_sink = true;
    check_single(first, both[0]);
    OperandSpec second;
    second.role = Role::kPredicateOut;
    second.may_sink = true;
    check_single(second, both[1]);
  }

  void check_single(const OperandSpec& spec, const Operand& operand) {
    switch (spec.role) {
      case Role::kDestination:
      case Role::kConverted:
      case Role::kSource:
      case Role::kRegister:
        return check_value(spec, operand);
      case Role::kImmediate:
        if (operand.kind != OperandKind::kInteger) {
          complain(operand, "an integer constant");
        }
        return;
      case Role::kPredicateOut:
      case Role::kPredicateIn:
        return check_predicate(spec, operand);
      case Role::kAddress:
        return check_address(operand);
      case Role::kTarget:
        if (operand.kind != OperandKind::kLabel) {
          complain(operand, "a label");
        }
        return;
      case Role::kMove:
        return check_move(operand);
      case Role::kMoveOut:
        return operand.kind == OperandKind::kVector ? check_pack(operand, wanted(spec), false)
                                                    : check_value(spec, operand);
      default:
        return;
    }
  }

  void check_predicate(const OperandSpec& spec, const Operand& operand) {
    const bool is_out = spec.role == Role::kPredicateOut;
    const bool is_constant = !is_out && operand.kind == OperandKind::kInteger;
    const bool is_sink = is_out && spec.may_sink && operand.kind == OperandKind::kSink;
    const bool is_predicate = operand.kind == OperandKind::kRegister &&
                              function_.reg(operand.as<RegisterId>()).type == Type::kPred &&
                              !(is_out && operand.negated);
    if (!is_constant && !is_sink && !is_predicate) {
      complain(operand, "a predicate");
    }
  }

  void check_value(const OperandSpec& spec, const Operand& operand) {
    const unsigned width = spec.by_width   ? instruction_.form->vector_width
                           : spec.by_shape ? count_of_shape(*instruction_.form)
                                           : spec.count;
    const bool is_vector =
        spec.any_count || spec.by_shape || spec.count > 0 || (spec.by_width && width > 1);
    if (operand.kind == OperandKind::kSink) {
      if (!spec.may_sink) {
        complain(operand, "a register");
      }
      return;
    }
    if (is_vector) {
      return check_vector(spec, operand, width);
    }
    if (operand.kind == OperandKind::kVector && operand.children.count == 1) {
      return check_scalar(spec, function_.children(operand)[0], false);
    }
    check_scalar(spec, operand, false);
  }

  void check_vector(const OperandSpec& spec, const Operand& operand, unsigned width) {
    if (operand.kind == OperandKind::kRegister) {
      const Register& reg = function_.reg(operand.as<RegisterId>());
      if (!spec.any_count && (reg.width != width || operand.component != Component::kNone)) {
        complain(operand, fmt::format("a vector of {}", width));
      }
      return;
    }
    if (operand.kind != OperandKind::kVector) {
      return complain(operand, "a vector in braces");
    }
    if (!spec.any_count && operand.children.count != width) {
      return complain(operand, fmt::format("a vector of {}", width));
    }
    for (const Operand& element : function_.children(operand)) {
      check_scalar(spec, element, true);
      if (!problem_.message.empty()) {
        return;
      }
    }
  }

  /// One value: a register of a fitting type, or a number of a source.
  void check_scalar(const OperandSpec& spec, const Operand& operand, bool is_element) {
    const Type type = wanted(spec);
    const bool is_destination = spec.role == Role::kDestination || spec.role == Role::kConverted;
    switch (operand.kind) {
      case OperandKind::kRegister:
        return check_register(spec, operand, type);
      case OperandKind::kInteger:
      case OperandKind::kFloat32:
      case OperandKind::kFloat64:
        if (spec.role != Role::kSource ||
            (!spec.any_type && !immediate_fits(type, operand, has_float_bits(operand)))) {
          complain(operand, is_destination ? "a register" : describe(type));
        }
        return;
      case OperandKind::kSink:
        if (!is_element || !is_destination) {
          complain(operand, "a register");
        }
        return;
      case OperandKind::kSpecial:
        if (is_destination || !takes_special_) {
          complain(operand, is_destination ? "a register"
                                           : "a register other than a special one (mov copies it)");
        }
        return;
      default:
        complain(operand, is_destination ? std::string("a register") : describe(type));
    }
  }

  void check_register(const OperandSpec& spec, const Operand& operand, Type type) {
    const Register& reg = function_.reg(operand.as<RegisterId>());
    if (reg.width > 1 && operand.component == Component::kNone) {
      return complain(operand, "one value, not a vector");
    }
    if (operand.negated) {
      return complain(operand, "a register without a sign");
    }
    if (spec.any_type) {
      return;
    }
    const bool wider =
        may_be_wider_ && (spec.role == Role::kConverted || instruction_.opcode() != "cvt" ||
                          is_integer(kind_of(type)));
    if (!register_fits(type, reg.type, wider)) {
      const std::string found =
          fmt::format("{}, a register of type .{}", describe(type), name_of(reg.type));
      problem_ = {fmt::format("expected {}, found '{}' of type .{}", describe(type),
                              printable(reg.name), name_of(reg.type)),
                  operand.position, operand.end};
    }
  }

  static std::string describe(Type type) {
    return type == Type::kNone ? "a value" : fmt::format("a value of type .{}", name_of(type));
  }

  [[nodiscard]] bool has_float_bits(const Operand& operand) const {
    const std::string_view text = module_.source->text;
    return operand.kind == OperandKind::kFloat32 ||
           (operand.kind == OperandKind::kFloat64 && operand.position + 1 < text.size() &&
            text[operand.position] == '0' &&
            (text[operand.position + 1] == 'd' || text[operand.position + 1] == 'D'));
  }

  void check_address(const Operand& operand) {
    if (operand.kind != OperandKind::kAddress) {
      return complain(operand, "an address in brackets");
    }
    const std::span<const Operand> parts = function_.children(operand);
    if (parts.empty()) {
      if (instruction_.form->space != Space::kLocal) {
        complain(operand, "an address that begins with a register or variable");
      }
      return;
    }
    const Operand& base = parts.front();
    if (base.kind == OperandKind::kRegister) {
      const Register& reg = function_.reg(base.as<RegisterId>());
      const TypeKind kind = kind_of(reg.type);
      if (kind != TypeKind::kBits && !is_integer(kind)) {
        complain(base, "an address of integer or bit type");
      } else if (!module_.has_address_size && is_global() && bits_of(reg.type) == 32) {
        complain(base, "an address of 64 bits (32-bit PTX is not read)");
      }
      return;
    }
    if (base.kind != OperandKind::kVariable) {
      return complain(base, "a register or a variable");
    }
    check_space(base);
  }

  [[nodiscard]] bool is_global() const {
    const Space space = instruction_.form->space;
    const std::string_view opcode = instruction_.opcode();
    const bool is_plain = opcode == "ld" || opcode == "st" || opcode == "atom" || opcode == "red";
    return is_plain && (space == Space::kGlobal || space == Space::kGeneric);
  }

  void check_space(const Operand& base) {
    const Variable& variable = module_.variable(base.as<VariableId>());
    const Space space = instruction_.form->space;
    const std::string_view opcode = instruction_.opcode();
    const bool is_plain =
        opcode == "ld" || opcode == "st" || opcode == "atom" || opcode == "red" || opcode == "ldu";
    const bool is_misplaced =
        space == Space::kGeneric ? variable.space == Space::kParam : space != variable.space;
    if (is_plain && is_misplaced) {
      complain(base, space == Space::kGeneric ? std::string("ld.param of a parameter")
                                              : fmt::format("a variable of .{}", name_of(space)));
    }
    const bool writes = opcode == "st" || opcode == "atom" || opcode == "red";
    const bool is_input = variable.is_parameter && !variable.is_return;
    if (is_plain && writes && is_input) {
      complain(base, "a variable that may be written");
    }
  }

  /// The source of mov, cvta and mapa: a value, an address of a variable or function, a vector.
  void check_move(const Operand& operand) {
    const Type type = match_.types.empty() ? Type::kNone : match_.types.front();
    OperandSpec spec;
    spec.role = Role::kSource;
    switch (operand.kind) {
      case OperandKind::kVariable:
      case OperandKind::kFunction:
        if (bits_of(type) < 32 || kind_of(type) == TypeKind::kFloat) {
          complain(operand, describe(type));
        }
        return;
      case OperandKind::kSpecial:
        return check_special(operand, type);
      case OperandKind::kVector:
        return check_pack(operand, type, true);
      case OperandKind::kRegister:
      case OperandKind::kInteger:
      case OperandKind::kFloat32:
      case OperandKind::kFloat64:
        if (type == Type::kPred && operand.kind == OperandKind::kRegister) {
          spec.role = Role::kPredicateIn;
          return check_predicate(spec, operand);
        }
        return instruction_.form->vector_width > 1 ? void() : check_scalar(spec, operand, false);
      default:
        complain(operand, describe(type));
    }
  }

  void check_special(const Operand& operand, Type type) {
    const SpecialRegister& special = special_register(operand.as<SpecialId>());
    const bool is_whole = special.is_vector && operand.component == Component::kNone;
    if (is_whole && instruction_.form->vector_width == 1) {
      return complain(operand, "one component, such as .x,");
    }
    const bool is_wide = bits_of(type) > 32;
    const bool fits =
        special.type == Type::kPred ? type == Type::kPred : is_wide == (special.type == Type::kU64);
    if (!fits) {
      complain(operand, describe(type));
    }
  }

  /// {a, b} of mov: the parts together are as wide as the type.
  void check_pack(const Operand& operand, Type type, bool is_source) {
    if (instruction_.form->vector_width > 1) {
      return;
    }
    if (kind_of(type) != TypeKind::kBits) {
      return complain(operand, describe(type));
    }
    const unsigned part = bits_of(type) / std::max(1U, operand.children.count);
    for (const Operand& element : function_.children(operand)) {
      if (element.kind == OperandKind::kRegister) {
        const Register& reg = function_.reg(element.as<RegisterId>());
        if (bits_of(reg.type) != part) {
          return complain(element, fmt::format("a part of {} bits", part));
        }
      } else if (!(is_source ? is_number(element) : element.kind == OperandKind::kSink)) {
        return complain(element, "a register");
      }
    }
  }

  const Module& module_;
  const Function& function_;
  const Instruction& instruction_;
  const Match& match_;
  std::vector<const OperandSpec*> specs_;  ///< Those that the modifiers call for.
  OperandProblem problem_;
  bool may_be_wider_ = false;
  bool takes_special_ = false;
};

}  // namespace

bool register_fits(Type wanted, Type reg, bool may_be_wider) {
  const TypeKind need = kind_of(wanted);
  const TypeKind have = kind_of(reg);
  const bool is_wide_enough =
      may_be_wider ? bits_of(reg) >= bits_of(wanted) : bits_of(reg) == bits_of(wanted);
  if (wanted == Type::kPred || reg == Type::kPred) {
    return wanted == reg;
  }
  if (have == TypeKind::kBits) {
    return is_wide_enough;
  }
  switch (need) {
    case TypeKind::kBits:
      return is_wide_enough;
    case TypeKind::kUnsigned:
    case TypeKind::kSigned:
      return is_integer(have) && is_wide_enough;
    default:
      return wanted == reg;
  }
}

OperandProblem check_operands(const Module& module, const Function& function,
                              const Instruction& instruction, const Match& match) {
  return OperandChecker(module, function, instruction, match).run();
}

}  // namespace mansard::frontend::ptx
