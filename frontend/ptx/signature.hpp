#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ptx/ast.hpp"

/// The instructions that PTX has, as data: `opcodes.def` holds one line a form, in the notation
/// that its head explains; this is what the lines say.
namespace mansard::frontend::ptx {

/// A choice of modifiers, of which one stands in the instruction (at most one if `is_optional`).
struct ModifierGroup {
  std::vector<std::string_view> words;
  bool is_optional = false;
  bool is_type = false;   ///< The k-th such group is type k of the operands.
  bool is_wgmma = false;  ///< Any shape of wgmma: m64nNkK.

  [[nodiscard]] bool accepts(std::string_view word) const;
};

enum class Role : char {
  kDestination = 'd',
  kConverted = 'c',  ///< A destination that may be wider than its type.
  kSource = 's',
  kRegister = 'r',
  kImmediate = 'i',
  kPredicateOut = 'q',
  kPredicateIn = 'p',
  kAddress = 'a',
  kTarget = 'l',
  kMove = 'm',
  kMoveOut = 'n',  ///< A destination that may be in parts: {a, b}.
  kVideo = 'v',
  kAny = 'x',
};

/// What an operand must be.
struct OperandSpec {
  Role role = Role::kAny;
  bool is_optional = false;
  bool may_sink = false;
  bool may_pair = false;   ///< A second destination, a predicate, may follow behind `|`.
  bool must_pair = false;  ///< It must.
  bool is_wide = false;    ///< Twice as wide as type 0.
  bool any_type = false;
  bool by_width = false;  ///< A vector of as many as .v2, .v4, .v8 say.
  bool any_count = false;
  bool by_shape = false;       ///< As many as the shape of the instruction says.
  std::string_view only_with;  ///< There if and only if this modifier is; empty: always.
  std::uint8_t count = 0;      ///< Of a vector; 0 for a single value.
  std::uint8_t type_number = 0;
  Type type = Type::kNone;  ///< A fixed type, else kNone.
};

/// Which architectures have something: "90", "90a", "100f|120f".
struct Architectures {
  std::string_view text;

  [[nodiscard]] bool include(const Target& target) const;
};

/// A form of an instruction.
struct Signature {
  std::string_view opcode;                ///< "mul".
  std::vector<std::string_view> leading;  ///< "lo": modifiers that come first, in order.
  std::vector<ModifierGroup> groups;
  std::vector<OperandSpec> operands;
  Version since;
  Architectures architectures;
};

/// A signature that the modifiers of an instruction fit, and the types that they name.
struct Match {
  const Signature* signature = nullptr;
  std::vector<Type> types;
};

/// Why no signature fits.
struct Mismatch {
  std::string message;
  std::size_t modifier = 0;  ///< The one to point at; past the last for the opcode itself.
};

/// A modifier's own requirements.
struct ModifierNeed {
  std::string_view modifier;
  Version since;
  Architectures architectures;
};

/// Whether any form has the opcode ("mul").
[[nodiscard]] bool is_opcode(std::string_view opcode);
/// Names of all opcodes, sorted.
[[nodiscard]] std::span<const std::string> opcodes();
/// The signatures that fit, in the order of the table.
[[nodiscard]] std::vector<Match> matches(const Form& form);
/// Explains why `matches` is empty.
[[nodiscard]] Mismatch explain_mismatch(const Form& form);
/// What the modifier needs beyond its instruction; null if nothing.
[[nodiscard]] const ModifierNeed* need_of(std::string_view modifier);

}  // namespace mansard::frontend::ptx
