#include "frontend/ptx/interpreter/number.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace mansard::frontend::ptx {
namespace {

constexpr unsigned kWhole = 64;

/// A format of `exponent` and `fraction` bits below the sign, IEEE 754 style.
struct Format {
  int exponent = 0;
  int fraction = 0;

  [[nodiscard]] int bias() const { return (1 << (exponent - 1)) - 1; }
};

Format format_of(Type type) {
  switch (type) {
    case Type::kF16:
      return {5, 10};
    case Type::kBf16:
      return {8, 7};
    case Type::kTf32:
      return {8, 10};
    default:
      return {8, 23};
  }
}

/// `value` rounded to an integer.
double round_whole(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    case Rounding::kUp:
      return std::ceil(value);
    case Rounding::kNearest:
      break;
  }
  return std::nearbyint(value);
}

/// The nearest value of the format, as a double; overflow gives infinity or the largest value.
double round_to(Format format, double value, Rounding rounding) {
  if (value == 0 || !std::isfinite(value)) {
    return value;
  }
  const int exponent = std::max(std::ilogb(value), 1 - format.bias());
  const double rounded =
      std::ldexp(round_whole(std::ldexp(value, format.fraction - exponent), rounding),
                 exponent - format.fraction);
  const double largest = std::ldexp(2 - std::ldexp(1.0, -format.fraction), format.bias());
  if (std::fabs(rounded) <= largest) {
    return rounded;
  }
  const bool stays = rounding == Rounding::kZero || (rounding == Rounding::kDown && value > 0) ||
                     (rounding == Rounding::kUp && value < 0);
  return std::copysign(stays ? largest : std::numeric_limits<double>::infinity(), value);
}

}  // namespace

std::uint64_t as_unsigned(Type type, std::uint64_t bits) {
  const unsigned width = bits_of(type);
  return width >= kWhole ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

std::int64_t as_signed(Type type, std::uint64_t bits) {
  const unsigned width = bits_of(type);
  if (width >= kWhole || width == 0) {
    return static_cast<std::int64_t>(bits);
  }
  return static_cast<std::int64_t>(bits << (kWhole - width)) >> (kWhole - width);
}

double as_float(Type type, std::uint64_t bits, bool flush) {
  constexpr unsigned kSingle = 32;
  if (type == Type::kF64) {
    return std::bit_cast<double>(bits);
  }
  if (type == Type::kF16) {
    const auto magnitude = static_cast<std::uint32_t>(bits & 0x7fff);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (magnitude >= 0x7c00) {
      return magnitude == 0x7c00 ? sign * std::numeric_limits<double>::infinity()
                                 : std::numeric_limits<double>::quiet_NaN();
    }
    const std::uint32_t exponent = magnitude >> 10;
    const std::uint32_t fraction = magnitude & 0x3ff;
    return sign * (exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(fraction + 1024, static_cast<int>(exponent) - 25));
  }
  const auto word = static_cast<std::uint32_t>(type == Type::kBf16 ? bits << (kSingle / 2) : bits);
  const auto value = static_cast<double>(std::bit_cast<float>(word));
  const bool is_subnormal =
      std::fabs(value) < static_cast<double>(std::numeric_limits<float>::min());
  return flush && is_subnormal ? std::copysign(0.0, value) : value;
}

std::uint64_t float_bits(Type type, double value, Rounding rounding, bool flush) {
  if (type == Type::kF64) {
    return std::bit_cast<std::uint64_t>(value);
  }
  if (std::isnan(value)) {
    return type == Type::kF16 || type == Type::kBf16 ? 0x7fff : 0x7fffffff;
  }
  const Format format = format_of(type);
  double rounded = rounding == Rounding::kNearest && type == Type::kF32
                       ? static_cast<double>(static_cast<float>(value))
                       : round_to(format, value, rounding);
  if (flush && std::fabs(rounded) < std::ldexp(1.0, 1 - format.bias())) {
    rounded = std::copysign(0.0, rounded);
  }
  if (type != Type::kF16) {
    const auto word = std::bit_cast<std::uint32_t>(static_cast<float>(rounded));
    return type == Type::kBf16 ? word >> 16 : word;
  }
  const std::uint64_t sign = std::signbit(rounded) ? 0x8000 : 0;
  const double magnitude = std::fabs(rounded);
  if (std::isinf(magnitude)) {
    return sign | 0x7c00;
  }
  if (magnitude < std::ldexp(1.0, -14)) {
    return sign | static_cast<std::uint64_t>(std::ldexp(magnitude, 24));
  }
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(magnitude, 10 - exponent)) - 1024;
  return sign | (static_cast<std::uint64_t>(exponent + 15) << 10) | fraction;
}

Type element_of(Type type) {
  switch (type) {
    case Type::kF16x2:
      return Type::kF16;
    case Type::kBf16x2:
      return Type::kBf16;
    case Type::kU16x2:
      return Type::kU16;
    case Type::kS16x2:
      return Type::kS16;
    case Type::kF32x2:
      return Type::kF32;
    default:
      return type;
  }
}

}  // namespace mansard::frontend::ptx
