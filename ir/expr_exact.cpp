#include "ir/expr_exact.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace mansard::ir {

namespace {

constexpr int kBits = 127;
constexpr Int128 kLargest = ~(static_cast<Int128>(1) << kBits);

/// Twos in a nonzero number.
int trailing_zeros(Int128 value) {
  const auto low = static_cast<std::uint64_t>(value);
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high);
}

std::optional<Int128> shift_left(Int128 value, int bits) {
  if (value == 0) {
    return value;
  }
  if (bits >= kBits || value > (kLargest >> bits) || value < -(kLargest >> bits)) {
    return std::nullopt;
  }
  return value * (static_cast<Int128>(1) << bits);
}

std::optional<Exact> lowest_terms(Int128 mantissa, int shift) {
  if (mantissa == 0) {
    return Exact{};
  }
  const int common = std::min(shift, trailing_zeros(mantissa));
  if (shift - common >= kBits) {
    return std::nullopt;
  }
  return Exact{mantissa >> common, shift - common};
}

/// Two numbers as multiples of one power of two.
struct Aligned {
  Int128 a = 0;
  Int128 b = 0;
  int shift = 0;
};

std::optional<Aligned> align(const Exact& a, const Exact& b) {
  const int shift = std::max(a.shift, b.shift);
  const auto left = shift_left(a.mantissa, shift - a.shift);
  const auto right = shift_left(b.mantissa, shift - b.shift);
  if (!left || !right) {
    return std::nullopt;
  }
  return Aligned{*left, *right, shift};
}

}  // namespace

std::optional<Exact> exact_from(double value) {
  if (value == 0) {
    return Exact{};
  }
  if (!std::isfinite(value)) {
    return std::nullopt;
  }
  constexpr int precision = 53;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const auto digits = static_cast<std::int64_t>(std::ldexp(fraction, precision));
  const int shift = precision - exponent;
  if (shift < 0) {
    const auto whole = shift_left(digits, -shift);
    return whole ? std::optional(Exact{*whole, 0}) : std::nullopt;
  }
  return lowest_terms(digits, shift);
}

std::optional<Exact> exact_add(const Exact& a, const Exact& b) {
  const auto aligned = align(a, b);
  Int128 sum = 0;
  if (!aligned || __builtin_add_overflow(aligned->a, aligned->b, &sum)) {
    return std::nullopt;
  }
  return lowest_terms(sum, aligned->shift);
}

std::optional<Exact> exact_sub(const Exact& a, const Exact& b) {
  const auto aligned = align(a, b);
  Int128 difference = 0;
  if (!aligned || __builtin_sub_overflow(aligned->a, aligned->b, &difference)) {
    return std::nullopt;
  }
  return lowest_terms(difference, aligned->shift);
}

std::optional<Exact> exact_mul(const Exact& a, const Exact& b) {
  if (a.mantissa == 0 || b.mantissa == 0) {
    return Exact{};
  }
  // Twos of one side cancel fractions of the other first, so that only a result that does not fit
  // is refused.
  const int from_a = std::min(trailing_zeros(a.mantissa), b.shift);
  const int from_b = std::min(trailing_zeros(b.mantissa), a.shift);
  Int128 product = 0;
  if (__builtin_mul_overflow(a.mantissa >> from_a, b.mantissa >> from_b, &product)) {
    return std::nullopt;
  }
  return lowest_terms(product, a.shift + b.shift - from_a - from_b);
}

std::optional<bool> exact_less(const Exact& a, const Exact& b) {
  const auto aligned = align(a, b);
  return aligned ? std::optional(aligned->a < aligned->b) : std::nullopt;
}

std::optional<Exact> exact_scale(const Exact& a, int n) {
  if (n <= a.shift) {
    return lowest_terms(a.mantissa, a.shift - n);
  }
  const auto scaled = shift_left(a.mantissa, n - a.shift);
  return scaled ? std::optional(Exact{*scaled, 0}) : std::nullopt;
}

int exact_exponent(const Exact& a) {
  assert(a.mantissa > 0);
  const auto high = static_cast<std::uint64_t>(a.mantissa >> 64);
  const auto low = static_cast<std::uint64_t>(a.mantissa);
  const int leading_zeros = high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low);
  return 127 - leading_zeros - a.shift;
}

std::optional<ExactDivision> exact_divide(const Exact& a, const Exact& b) {
  const auto aligned = align(a, b);
  const bool overflows = aligned && aligned->b == -1 && aligned->a < -kLargest;
  if (!aligned || overflows) {
    return std::nullopt;
  }
  Int128 quotient = aligned->a / aligned->b;
  Int128 remainder = aligned->a % aligned->b;
  if (remainder != 0 && (remainder < 0) != (aligned->b < 0)) {
    --quotient;
    remainder += aligned->b;
  }
  return ExactDivision{quotient, lowest_terms(remainder, aligned->shift).value_or(Exact{})};
}

}  // namespace mansard::ir
