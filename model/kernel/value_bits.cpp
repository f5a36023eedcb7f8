#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "model/kernel/value.hpp"
#include "model/kernel/value_numbers.hpp"

namespace mansard::model::kernel {

bool Alu::below_steps(const Value& a, const Value& b, unsigned& bits) const {
  if (varies(b) || !varies(a)) {
    return false;
  }
  bits = 62;
  for (unsigned d = 0; d < kDims; ++d) {
    bits = std::min(bits, domain_.varies(d) ? trailing_zeros(a.coef[d]) : 62U);
  }
  const Mask lanes = a.known & b.known & mask;
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
    const std::int64_t x = b.at(static_cast<unsigned>(std::countr_zero(rest)));
    if (x < 0 || x >= std::int64_t{1} << bits) {
      return false;
    }
  }
  return lanes != 0;
}

template <typename Operation>
Value Alu::on_low_bits(const Value& a, const Value& b, unsigned bits, Operation operation) {
  const std::int64_t low = (std::int64_t{1} << bits) - 1;
  Value r = lanewise(a, b, [&](std::int64_t x, std::int64_t y) {
    return (x & ~low) + (operation(x & low, y) & low);
  });
  r.coef = a.coef;
  return r;
}

Value Alu::bit_and(Value a, Value b, unsigned bits) {
  if (varies(b)) {
    std::swap(a, b);
  }
  if (unsigned low = 0; below_steps(a, b, low)) {
    Value r = on_low_bits(a, b, low, [](std::int64_t x, std::int64_t y) { return x & y; });
    const unsigned lanes = r.uniform ? 1 : kLanes;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      r.base[lane] &= (std::int64_t{1} << low) - 1;
    }
    r.coef.fill(0);
    return r;
  }
  if (varies(a) && !varies(b) && b.uniform && b.known != 0) {
    // A run of ones from bit `low` to bit `high`: the remainder by 2^high less that by 2^low.
    const auto ones = static_cast<std::uint64_t>(b.base[0]);
    const unsigned low = trailing_zeros(b.base[0]);
    const std::uint64_t run = low >= 63 ? 0 : (ones >> low) + 1;
    const bool to_the_top = b.base[0] < 0 && run == std::uint64_t{1} << (64 - low);
    if (b.base[0] != 0 && low < 62 && (to_the_top || (b.base[0] > 0 && std::has_single_bit(run)))) {
      Value r = a;
      if (!to_the_top) {
        const unsigned high = low + static_cast<unsigned>(std::countr_zero(run));
        static_cast<void>(high < 62 ? floor_div(a, std::int64_t{1} << high, &r) : a);
      }
      if (low > 0) {
        Value rest;
        static_cast<void>(floor_div(r, std::int64_t{1} << low, &rest));
        r = combine(r, rest, -1);
      }
      return r;
    }
  }
  pin(a);
  pin(b);
  return wrap(lanewise(a, b, [](std::int64_t x, std::int64_t y) { return x & y; }), bits);
}

/// a + b where one has zeros wherever the other has ones: multiples of 2^k beside values below it.
Value Alu::disjoint(Value a, Value b, bool& done) {
  done = false;
  for (int turn = 0; turn < 2; ++turn, std::swap(a, b)) {
    const Mask lanes = a.known & b.known & mask;
    unsigned zeros = 62;
    for (unsigned d = 0; d < kDims; ++d) {
      zeros = std::min(zeros, domain_.varies(d) ? trailing_zeros(a.coef[d]) : 62U);
    }
    bool low = lanes != 0;
    for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
      zeros = std::min(zeros, trailing_zeros(a.at(static_cast<unsigned>(std::countr_zero(rest)))));
    }
    for (Mask rest = lanes; rest != 0 && low; rest &= rest - 1) {
      const std::int64_t x = b.at(static_cast<unsigned>(std::countr_zero(rest)));
      low = x >= 0 && x < std::int64_t{1} << zeros;
    }
    if (low && constrain(b, lanes, 0, (std::int64_t{1} << zeros) - 1)) {
      done = true;
      return combine(a, b, 1);
    }
  }
  return {};
}

Value Alu::bit_or(Value a, Value b, unsigned bits) {
  if (varies(b) && !varies(a)) {
    std::swap(a, b);
  }
  if (unsigned low = 0; below_steps(a, b, low)) {
    return on_low_bits(a, b, low, [](std::int64_t x, std::int64_t y) { return x | y; });
  }
  if (varies(a) || varies(b)) {
    bool done = false;
    Value r = disjoint(a, b, done);
    if (done) {
      return r;
    }
  }
  pin(a);
  pin(b);
  return wrap(lanewise(a, b, [](std::int64_t x, std::int64_t y) { return x | y; }), bits);
}

Value Alu::bit_xor(Value a, Value b, unsigned bits) {
  if (varies(b) && !varies(a)) {
    std::swap(a, b);
  }
  if (unsigned low = 0; below_steps(a, b, low)) {
    return on_low_bits(a, b, low, [](std::int64_t x, std::int64_t y) { return x ^ y; });
  }
  if (varies(a) || varies(b)) {
    bool done = false;
    Value r = disjoint(a, b, done);
    if (done) {
      return r;
    }
  }
  pin(a);
  pin(b);
  return wrap(lanewise(a, b, [](std::int64_t x, std::int64_t y) { return x ^ y; }), bits);
}

Value Alu::bit_not(const Value& a, unsigned bits) {
  if (bits == 1) {
    return negate(a);
  }
  return wrap(combine(Value::constant(-1), a, -1), bits);
}

Value Alu::lop3(Value a, Value b, Value c, std::int64_t table, unsigned bits) {
  pin(a);
  pin(b);
  pin(c);
  const auto sums = [&](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    std::uint64_t r = 0;
    for (unsigned row = 0; row < 8; ++row) {
      if ((static_cast<std::uint64_t>(table) >> row & 1U) != 0) {
        r |= ((row & 4U) != 0 ? x : ~x) & ((row & 2U) != 0 ? y : ~y) & ((row & 1U) != 0 ? z : ~z);
      }
    }
    return static_cast<std::int64_t>(r);
  };
  Value r = lanewise(a, b, [](std::int64_t x, std::int64_t) { return x; });
  r.known &= c.known;
  r.causes |= c.causes;
  r.spread();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    r.base[lane] =
        sums(static_cast<std::uint64_t>(a.at(lane)), static_cast<std::uint64_t>(b.at(lane)),
             static_cast<std::uint64_t>(c.at(lane)));
  }
  return wrap(r, bits);
}

Value Alu::extract(const Value& a, Value position, Value length, unsigned bits, bool is_signed) {
  pin(position);
  pin(length);
  if (!position.uniform || !length.uniform || (position.known & length.known) == 0) {
    return Value::unknown(a.causes | position.causes | length.causes | kData);
  }
  const std::int64_t p = position.base[0] & 255;
  const std::int64_t n = std::min<std::int64_t>(length.base[0] & 255, bits);
  if (p >= 62 || n == 0 || n >= 62) {
    return Value::unknown(a.causes | kData);
  }
  Value r;
  static_cast<void>(
      floor_div(floor_div(a, std::int64_t{1} << p, nullptr), std::int64_t{1} << n, &r));
  return is_signed ? wrap(r, static_cast<unsigned>(n)) : r;
}

}  // namespace mansard::model::kernel
