#pragma once

#include <array>
#include <cstdint>

/// Values of a warp, exact over a box of blocks and iterations.
///
/// A value is, for each lane, base[lane] + the sum over dimensions d of coef[d] * x_d, with 0 <=
/// x_d < extent[d]: x_0 to x_2 count blocks from the first block of the box, later dimensions count
/// iterations of loops. An operation whose result is not of that form over the whole box shrinks
/// the box until it is: the path that the first point takes is what all points of the box take, and
/// what was cut off is run later.
namespace mansard::model::kernel {

inline constexpr unsigned kLanes = 32;
inline constexpr unsigned kBlockDims = 3;
inline constexpr unsigned kLoopDims = 5;
inline constexpr unsigned kOpaqueDims =
    4;  ///< Numbers that were loaded: the same in every lane, but not known.
inline constexpr unsigned kFirstOpaque = kBlockDims + kLoopDims;
inline constexpr unsigned kDims = kFirstOpaque + kOpaqueDims;
inline constexpr std::int64_t kUnbounded = std::int64_t{1} << 40;

using Mask = std::uint32_t;
/// Why a value is not known: bit p for parameter p (below 62), the last for data.
using Causes = std::uint64_t;
inline constexpr Causes kData = Causes{1} << 63U;

struct Domain {
  std::array<std::int64_t, kDims> extent;
  Domain() { extent.fill(1); }
  [[nodiscard]] static bool opaque(unsigned dim) { return dim >= kFirstOpaque; }
  /// True if a value may differ along `dim`.
  [[nodiscard]] bool varies(unsigned dim) const { return extent[dim] > 1 || opaque(dim); }
};

struct Value {
  Mask known = 0;
  bool uniform = false;  ///< Every lane has base[0].
  Causes causes = 0;     ///< Of lanes that are not known.
  std::array<std::int64_t, kDims> coef{};
  std::array<std::int64_t, kLanes> base{};

  [[nodiscard]] static Value constant(std::int64_t value);
  [[nodiscard]] static Value unknown(Causes causes) { return {.causes = causes}; }
  [[nodiscard]] std::int64_t at(unsigned lane) const { return base[uniform ? 0 : lane]; }
  void spread();  ///< Makes it not `uniform`.
};

/// Arithmetic on values. Constraints are those of the lanes of `mask`; others need not keep.
class Alu {
 public:
  explicit Alu(Domain& domain) : domain_(domain) {}
  Mask mask = 0;

  [[nodiscard]] Value add(const Value& a, const Value& b, unsigned bits);
  [[nodiscard]] Value sub(const Value& a, const Value& b, unsigned bits);
  [[nodiscard]] Value mul(Value a, Value b, unsigned bits);
  /// Products of 32-bit (or 16-bit) values without loss.
  [[nodiscard]] Value mul_wide(Value a, Value b, unsigned bits, bool is_signed);
  [[nodiscard]] Value mul_high(Value a, Value b, unsigned bits, bool is_signed);
  [[nodiscard]] Value divide(Value a, Value b, unsigned bits, bool is_signed, bool remainder);
  [[nodiscard]] Value shift_left(Value a, Value b, unsigned bits);
  [[nodiscard]] Value shift_right(Value a, Value b, unsigned bits, bool is_signed);
  [[nodiscard]] Value bit_and(Value a, Value b, unsigned bits);
  [[nodiscard]] Value bit_or(Value a, Value b, unsigned bits);
  [[nodiscard]] Value bit_xor(Value a, Value b, unsigned bits);
  [[nodiscard]] Value bit_not(const Value& a, unsigned bits);
  [[nodiscard]] Value lop3(Value a, Value b, Value c, std::int64_t table, unsigned bits);
  [[nodiscard]] Value extract(const Value& a, Value position, Value length, unsigned bits,
                              bool is_signed);
  [[nodiscard]] Value less(const Value& a, const Value& b, unsigned bits, bool is_signed);
  [[nodiscard]] Value equal(const Value& a, const Value& b);
  [[nodiscard]] Value select(const Value& condition, Value a, Value b);
  /// The low `source_bits` of a, extended, as a value of `bits`.
  [[nodiscard]] Value convert(const Value& a, unsigned source_bits, bool source_signed,
                              unsigned bits);
  /// Shrinks the box until `v` does not vary in it.
  void pin(Value& v);
  /// 1 - a of a predicate.
  [[nodiscard]] Value negate(Value a);
  /// True if `v` is the same number over the box, whatever the lane does.
  [[nodiscard]] bool varies(const Value& v) const;

 private:
  Value combine(const Value& a, const Value& b, std::int64_t sign);
  Value wrap(Value v, unsigned bits);
  Value as_unsigned(Value v, unsigned bits);
  Value scale(Value v, std::int64_t factor);
  Value product(Value a, Value b);
  Value disjoint(Value a, Value b, bool& done);
  /// Bits of `a` below all of its coefficients are known in each lane; true if `b` has no others,
  /// with their number.
  bool below_steps(const Value& a, const Value& b, unsigned& bits) const;
  template <typename Operation>
  Value on_low_bits(const Value& a, const Value& b, unsigned bits, Operation operation);
  /// floor(v / divisor) and what remains; divisor > 0.
  Value floor_div(const Value& v, std::int64_t divisor, Value* remainder);
  /// Shrinks the box so that lanes of `lanes`, which are within [low, high] at its first point,
  /// stay there. False if the value is not known well enough.
  bool constrain(const Value& v, Mask lanes, std::int64_t low, std::int64_t high);
  void shrink(const Value& v, __int128 slack, int direction);

  Domain& domain_;
};

}  // namespace mansard::model::kernel
