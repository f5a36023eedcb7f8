#pragma once

#include <cstdint>

namespace mansard {

/// Pseudo-random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna,
/// 2018) seeded by splitmix64, and distributions over it that use no library function but the
/// correctly rounded square root.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  [[nodiscard]] std::uint64_t next();
  /// In (0, 1).
  [[nodiscard]] double uniform();
  /// Of mean 1.
  [[nodiscard]] double exponential();
  /// Of mean 0 and deviation 1 (Marsaglia's polar method).
  [[nodiscard]] double normal();
  /// Of that shape and mean `shape` (Marsaglia and Tsang, 2000). `shape` > 0.
  [[nodiscard]] double gamma(double shape);

 private:
  std::uint64_t state_[4];
};

/// The natural logarithm of x > 0 and e^x for |x| < 700, within 2 ulp, with the same bits
/// everywhere.
[[nodiscard]] double portable_log(double x);
[[nodiscard]] double portable_exp(double x);

}  // namespace mansard
