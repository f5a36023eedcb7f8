#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

/// What each operation of an expression computes on doubles. This is the definition: interpreter,
/// JIT, WebAssembly and PTX return these bits (any NaN for a NaN). Every function is total; each +
/// - * / below rounds once, to nearest even, and no two are contracted.
///
/// A reduction visits the rows of its table in order and starts from the first: kMin is min(min(k0,
/// k1), k2)..., kSum is (k0 + k1) + k2...; kAtMin takes the payload at the first row whose key no
/// later key is less than.
namespace mansard::ir::semantics {

[[nodiscard]] inline double floor(double a) {
  return std::floor(a);
}
[[nodiscard]] inline double floor_div(double a, double b) {
  return std::floor(a / b);
}
[[nodiscard]] inline double ceil_div(double a, double b) {
  return std::ceil(a / b);
}
[[nodiscard]] inline double mod(double a, double b) {
  return a - b * std::floor(a / b);
}
[[nodiscard]] inline double min(double a, double b) {
  return b < a ? b : a;
}
[[nodiscard]] inline double max(double a, double b) {
  return a < b ? b : a;
}
[[nodiscard]] inline double less(double a, double b) {
  return a < b ? 1.0 : 0.0;
}
[[nodiscard]] inline double select(double c, double x, double y) {
  return c != 0 ? x : y;
}

inline constexpr int kScaleLimit = 1100;

/// 2^n of a normal result, -1022 <= n <= 1023.
[[nodiscard]] inline double power_of_two(int n) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52U);
}

/// (x * 2^floor(n/2)) * 2^(n - floor(n/2)): exact unless the result leaves the normal range. `n` is
/// a whole number; beyond
/// [-1100, 1100] it counts as the nearer end, and NaN as -1100.
[[nodiscard]] inline double scale2(double x, double n) {
  const double clamped = min(max(-kScaleLimit, n), kScaleLimit);
  const int whole = static_cast<int>(clamped);
  const int half = whole >> 1;
  return x * power_of_two(half) * power_of_two(whole - half);
}

/// The exponent field of x less its bias, whatever its sign: -1023 for zero and subnormals, 1024
/// for infinity and NaN.
[[nodiscard]] inline double exponent2(double x) {
  const auto field = (std::bit_cast<std::uint64_t>(x) >> 52U) & 0x7FFU;
  return static_cast<double>(static_cast<int>(field) - 1023);
}

/// Below 2^53 in magnitude, so that floor(a / b) of whole operands is exact; infinities and NaN
/// pass through.
[[nodiscard]] inline bool is_dimension_sized(double a) {
  return !(std::abs(a) >= 0x1p53) || std::isinf(a);
}

[[nodiscard]] inline bool is_whole(double a) {
  return std::isfinite(a) && std::floor(a) == a;
}

}  // namespace mansard::ir::semantics
