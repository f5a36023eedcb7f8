#pragma once

#include <cstdint>
#include <optional>

/// Exact arithmetic for `count`: 128-bit whole numbers and their binary fractions. Internal to
/// `ir`.
namespace mansard::ir {

using Int128 = __int128;

/// mantissa * 2^-shift in lowest terms: the mantissa is odd or the shift is 0. Fractions arise from
/// constants such as the half byte of a 4-bit type; what is counted in the end is whole.
struct Exact {
  Int128 mantissa = 0;
  int shift = 0;

  friend bool operator==(const Exact&, const Exact&) = default;
};

/// Each is absent where the result does not fit.
[[nodiscard]] std::optional<Exact> exact_from(double value);
[[nodiscard]] std::optional<Exact> exact_add(const Exact& a, const Exact& b);
[[nodiscard]] std::optional<Exact> exact_sub(const Exact& a, const Exact& b);
[[nodiscard]] std::optional<Exact> exact_mul(const Exact& a, const Exact& b);
[[nodiscard]] std::optional<bool> exact_less(const Exact& a, const Exact& b);
/// a * 2^n.
[[nodiscard]] std::optional<Exact> exact_scale(const Exact& a, int n);
/// The e with 2^e <= a < 2^(e+1), of a positive a.
[[nodiscard]] int exact_exponent(const Exact& a);

/// a / b = quotient + remainder / b with the quotient rounded down and the remainder of b's sign.
struct ExactDivision {
  Int128 quotient = 0;
  Exact remainder;
};
/// Of a nonzero b.
[[nodiscard]] std::optional<ExactDivision> exact_divide(const Exact& a, const Exact& b);

}  // namespace mansard::ir
