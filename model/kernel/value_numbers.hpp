#pragma once

#include <bit>
#include <cstdint>

#include "model/kernel/value.hpp"

/// Whole numbers as lanes have them: extended, wrapped, divided towards less.
namespace mansard::model::kernel {

[[nodiscard]] inline std::int64_t sign_extended(std::int64_t value, unsigned bits) {
  if (bits >= 64) {
    return value;
  }
  if (bits == 1) {
    return value & 1;
  }
  const unsigned shift = 64 - bits;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift;
}

[[nodiscard]] inline std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

[[nodiscard]] inline std::int64_t wrapping_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
[[nodiscard]] inline std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// A value with `operation` on the bases of each lane, without coefficients.
template <typename Operation>
[[nodiscard]] Value lanewise(const Value& a, const Value& b, Operation operation) {
  Value r;
  r.known = a.known & b.known;
  r.causes = a.causes | b.causes;
  r.uniform = a.uniform && b.uniform;
  const unsigned lanes = r.uniform ? 1 : kLanes;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    r.base[lane] = operation(a.at(lane), b.at(lane));
  }
  return r;
}

[[nodiscard]] inline unsigned trailing_zeros(std::int64_t value) {
  return value == 0 ? 63
                    : static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(value)));
}

}  // namespace mansard::model::kernel
