#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "frontend/ptx/interpreter/arithmetic.hpp"

/// Instructions of one lane, as functions; used by arithmetic*.cpp only.
namespace mansard::frontend::ptx {

/// An instruction by its opcode and, where that decides, a modifier: "mul.hi".
struct Evaluator {
  std::string_view name;
  Evaluate evaluate = nullptr;
};

/// Of cvt to a packed type from two sources.
inline constexpr std::string_view kConvertPair = "cvt.pair";

[[nodiscard]] std::span<const Evaluator> number_evaluators();  ///< Sums, products, quotients.
[[nodiscard]] std::span<const Evaluator> bit_evaluators();
/// Special functions, conversions, choices.
[[nodiscard]] std::span<const Evaluator> function_evaluators();

using Wide = unsigned __int128;
using SignedWide = __int128;

[[nodiscard]] inline bool is_float(Type type) {
  return kind_of(type) == TypeKind::kFloat;
}
[[nodiscard]] inline bool is_signed(Type type) {
  return kind_of(type) == TypeKind::kSigned;
}

[[nodiscard]] inline double f(const Alu& alu, std::uint64_t bits) {
  return as_float(alu.type, bits, alu.flushes);
}

[[nodiscard]] inline std::uint64_t from(const Alu& alu, double value) {
  if (alu.saturates) {
    value = std::isnan(value) ? 0.0 : std::clamp(value, 0.0, 1.0);
  }
  return float_bits(alu.type, value, alu.rounding, alu.flushes);
}

[[nodiscard]] inline SignedWide whole(Type type, std::uint64_t bits) {
  return is_signed(type) ? SignedWide{as_signed(type, bits)} : SignedWide{as_unsigned(type, bits)};
}

/// Cuts to the type, or clamps to its range with .sat.
[[nodiscard]] inline std::uint64_t from_whole(const Alu& alu, SignedWide value) {
  if (alu.saturates) {
    const unsigned width = bits_of(alu.type);
    const SignedWide one = 1;
    const SignedWide high = is_signed(alu.type) ? (one << (width - 1)) - 1 : (one << width) - 1;
    const SignedWide low = is_signed(alu.type) ? -(one << (width - 1)) : 0;
    value = std::clamp(value, low, high);
  }
  return as_unsigned(alu.type, static_cast<std::uint64_t>(value));
}

/// The halves of packed operands, each through the evaluator of its type.
template <Evaluate Scalar>
std::uint64_t packed(const Alu& alu, const Sources& in, bool& carry) {
  const Type element = element_of(alu.type);
  if (element == alu.type) {
    return Scalar(alu, in, carry);
  }
  Alu half = alu;
  half.type = element;
  const unsigned width = bits_of(element);
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 2; ++i) {
    Sources part{};
    for (std::size_t k = 0; k < kMostSources; ++k) {
      part[k] = as_unsigned(element, in[k] >> (i * width));
    }
    result |= as_unsigned(element, Scalar(half, part, carry)) << (i * width);
  }
  return result;
}

}  // namespace mansard::frontend::ptx
