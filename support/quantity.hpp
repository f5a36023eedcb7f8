#pragma once

#include <compare>

#include "support/dimension.hpp"

/// Unit-safe physical quantities: one `double` in SI base units, the dimension in the type.
///
///     Seconds time = Flops(2e12) / FlopsPerSecond(989.4e12);
///     double ratio = time / Seconds(1);
///
/// FLOP and byte are dimensions of their own, so `Flops / Bytes` is an intensity, not a number.
namespace mansard {

template <Dimension D>
class Quantity {
 public:
  constexpr Quantity() = default;
  explicit constexpr Quantity(double base_units) : value_(base_units) {}

  /// The value in base units: FLOP, byte, second, joule and their products.
  [[nodiscard]] constexpr double value() const { return value_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(double k, Quantity q) { return Quantity(k * q.value_); }
  friend constexpr Quantity operator*(Quantity q, double k) { return Quantity(q.value_ * k); }
  friend constexpr Quantity operator/(Quantity q, double k) { return Quantity(q.value_ / k); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

 private:
  double value_ = 0;
};

template <Dimension A, Dimension B>
constexpr auto operator*(Quantity<A> a, Quantity<B> b) {
  return Quantity<A + B>(a.value() * b.value());
}
template <Dimension A, Dimension B>
constexpr auto operator/(Quantity<A> a, Quantity<B> b) {
  return Quantity<A - B>(a.value() / b.value());
}

using Flops = Quantity<kFlop>;
using Bytes = Quantity<kByte>;
using Seconds = Quantity<kSecond>;
using Joules = Quantity<kJoule>;
using Instructions = Quantity<kInstruction>;
using Cycles = Quantity<kCycle>;
using Watts = Quantity<kWatt>;
using Hertz = Quantity<kHertz>;
using FlopsPerSecond = Quantity<kFlopPerSecond>;
using BytesPerSecond = Quantity<kBytePerSecond>;
using BytesPerCycle = Quantity<kBytePerCycle>;
using InstructionsPerSecond = Quantity<kInstructionPerSecond>;
using FlopsPerByte = Quantity<kFlop - kByte>;
using Usd = Quantity<Dimension{.usd = 1}>;
using UsdPerSecond = Quantity<kUsdPerSecond>;

inline namespace literals {
constexpr auto operator""_TFLOPs(long double v) {
  return FlopsPerSecond(static_cast<double>(v) * 1e12);
}
constexpr auto operator""_GBps(unsigned long long v) {
  return BytesPerSecond(static_cast<double>(v) * 1e9);
}
constexpr auto operator""_GiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 0x1p30);
}
}  // namespace literals

}  // namespace mansard
