#pragma once

#include <cstdint>

#include "frontend/ptx/type.hpp"

/// Bits of registers as numbers, and back.
namespace mansard::frontend::ptx {

enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp };

/// The low bits of the type, without or with its sign.
[[nodiscard]] std::uint64_t as_unsigned(Type type, std::uint64_t bits);
[[nodiscard]] std::int64_t as_signed(Type type, std::uint64_t bits);
/// A floating-point value; exact for every type. `flush` makes subnormals of .f32 zero.
[[nodiscard]] double as_float(Type type, std::uint64_t bits, bool flush = false);
/// The bits of the value rounded to the type. Values of .f64 are taken as they are.
[[nodiscard]] std::uint64_t float_bits(Type type, double value, Rounding rounding, bool flush);
/// The type of one half of a packed type: of .f16x2 .f16; any other is itself.
[[nodiscard]] Type element_of(Type type);

}  // namespace mansard::frontend::ptx
