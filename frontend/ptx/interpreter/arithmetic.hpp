#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/interpreter/number.hpp"

namespace mansard::frontend::ptx {

/// What the modifiers of an arithmetic instruction say.
struct Alu {
  const Form* form = nullptr;
  Type type = Type::kNone;    ///< Of the result.
  Type source = Type::kNone;  ///< Of the operands where it differs (cvt, set).
  Rounding rounding = Rounding::kNearest;
  bool rounds_whole = false;  ///< .rni and its like.
  bool saturates = false;
  bool flushes = false;  ///< .ftz
  bool writes_carry = false;
  std::string_view compare;  ///< "lt", "geu"; empty without.
};

[[nodiscard]] Alu alu_of(const Form& form);

inline constexpr std::size_t kMostSources = 4;
using Sources = std::array<std::uint64_t, kMostSources>;

/// The result for one lane; `carry` is the lane's carry bit.
using Evaluate = std::uint64_t (*)(const Alu&, const Sources&, bool& carry);

/// How to compute an instruction that only reads and writes registers of its own lane; null if it
/// is none, or not supported.
[[nodiscard]] Evaluate evaluator_of(const Form& form);

/// Whether `a compare b` holds for values of `type`.
[[nodiscard]] bool compare(std::string_view how, Type type, std::uint64_t a, std::uint64_t b,
                           bool flush);

/// The result of an atomic operation named by a modifier ("add", "cas"); for cas `b` is the
/// expected and `c` the new value.
[[nodiscard]] std::uint64_t atomic_result(const Form& form, std::uint64_t old, std::uint64_t b,
                                          std::uint64_t c);

}  // namespace mansard::frontend::ptx
