#include "model/kernel/value.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace mansard::model::kernel {
namespace {

std::int64_t sign_extended(std::int64_t value, unsigned bits) {
  if (bits >= 64) {
    return value;
  }
  if (bits == 1) {
    return value & 1;
  }
  const unsigned shift = 64 - bits;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::int64_t wrapping_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// A value with `operation` on the bases of each lane, without coefficients.
template <typename Operation>
Value lanewise(const Value& a, const Value& b, Operation operation) {
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

unsigned trailing_zeros(std::int64_t value) {
  return value == 0 ? 63
                    : static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(value)));
}

}  // namespace

Value Value::constant(std::int64_t value) {
  Value v;
  v.known = ~Mask{0};
  v.uniform = true;
  v.base[0] = value;
  return v;
}

void Value::spread() {
  if (uniform) {
    base.fill(base[0]);
    uniform = false;
  }
}

bool Alu::varies(const Value& v) const {
  for (unsigned d = 0; d < kDims; ++d) {
    if (v.coef[d] != 0 && domain_.varies(d)) {
      return true;
    }
  }
  return false;
}

void Alu::pin(Value& v) {
  for (unsigned d = 0; d < kDims; ++d) {
    if (v.coef[d] == 0) {
      continue;
    }
    if (Domain::opaque(d)) {
      v = Value::unknown(kData);
      return;
    }
    domain_.extent[d] = 1;
    v.coef[d] = 0;
  }
}

void Alu::shrink(const Value& v, __int128 slack, int direction) {
  const auto contribution = [&](unsigned d) -> __int128 {
    const __int128 c = static_cast<__int128>(v.coef[d]) * direction;
    return c > 0 ? c * (domain_.extent[d] - 1) : 0;
  };
  while (true) {
    __int128 total = 0;
    for (unsigned d = 0; d < kFirstOpaque; ++d) {
      total += contribution(d);
    }
    if (total <= slack) {
      return;
    }
    int best = -1;
    double best_ratio = -1;
    std::int64_t best_extent = 1;
    int largest = -1;
    for (unsigned d = 0; d < kFirstOpaque; ++d) {
      const __int128 part = contribution(d);
      if (part == 0) {
        continue;
      }
      if (largest < 0 || part > contribution(static_cast<unsigned>(largest))) {
        largest = static_cast<int>(d);
      }
      const __int128 left = slack - (total - part);
      if (left < 0) {
        continue;
      }
      const __int128 c = static_cast<__int128>(v.coef[d]) * direction;
      const auto extent = static_cast<std::int64_t>(left / c + 1);
      const double ratio = static_cast<double>(extent) / static_cast<double>(domain_.extent[d]);
      if (ratio > best_ratio) {
        best = static_cast<int>(d);
        best_ratio = ratio;
        best_extent = extent;
      }
    }
    if (best >= 0) {
      domain_.extent[static_cast<unsigned>(best)] = best_extent;
      return;
    }
    domain_.extent[static_cast<unsigned>(largest)] = 1;
  }
}

bool Alu::constrain(const Value& v, Mask lanes, std::int64_t low, std::int64_t high) {
  lanes &= v.known & mask;
  if (lanes == 0) {
    return true;
  }
  bool any = false;
  for (unsigned d = 0; d < kDims; ++d) {
    if (v.coef[d] != 0 && domain_.varies(d)) {
      if (Domain::opaque(d)) {
        return false;
      }
      any = true;
    }
  }
  if (!any) {
    return true;
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
    const std::int64_t base = v.at(static_cast<unsigned>(std::countr_zero(rest)));
    least = std::min(least, base);
    greatest = std::max(greatest, base);
  }
  shrink(v, static_cast<__int128>(high) - greatest, 1);
  shrink(v, static_cast<__int128>(least) - low, -1);
  return true;
}

Value Alu::wrap(Value v, unsigned bits) {
  if (bits >= 64) {
    return v;
  }
  const unsigned lanes = v.uniform ? 1 : kLanes;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    v.base[lane] = sign_extended(v.base[lane], bits);
  }
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  for (unsigned d = kFirstOpaque; d < kDims; ++d) {
    if (v.coef[d] != 0) {
      return v;  // an unknown number is taken to fit its type
    }
  }
  constrain(v, ~Mask{0}, bits == 1 ? 0 : -half, bits == 1 ? 1 : half - 1);
  return v;
}

Value Alu::as_unsigned(Value v, unsigned bits) {
  if (bits >= 64) {
    return v;
  }
  for (unsigned d = kFirstOpaque; d < kDims; ++d) {
    if (v.coef[d] != 0) {
      return v;
    }
  }
  const std::int64_t modulus = std::int64_t{1} << bits;
  const unsigned lanes = v.uniform ? 1 : kLanes;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    v.base[lane] += v.base[lane] < 0 ? modulus : 0;
  }
  constrain(v, ~Mask{0}, 0, modulus - 1);
  return v;
}

Value Alu::combine(const Value& a, const Value& b, std::int64_t sign) {
  Value r = lanewise(
      a, b, [&](std::int64_t x, std::int64_t y) { return wrapping_add(x, wrapping_mul(y, sign)); });
  for (unsigned d = 0; d < kDims; ++d) {
    r.coef[d] = domain_.varies(d) ? wrapping_add(a.coef[d], wrapping_mul(b.coef[d], sign)) : 0;
  }
  return r;
}

Value Alu::add(const Value& a, const Value& b, unsigned bits) {
  return wrap(combine(a, b, 1), bits);
}
Value Alu::sub(const Value& a, const Value& b, unsigned bits) {
  return wrap(combine(a, b, -1), bits);
}

Value Alu::scale(Value v, std::int64_t factor) {
  const unsigned lanes = v.uniform ? 1 : kLanes;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    v.base[lane] = wrapping_mul(v.base[lane], factor);
  }
  for (std::int64_t& c : v.coef) {
    c = wrapping_mul(c, factor);
  }
  return v;
}

Value Alu::product(Value a, Value b) {
  const auto volume = [&](const Value& v) {
    double size = 1;
    for (unsigned d = 0; d < kFirstOpaque; ++d) {
      size *= v.coef[d] != 0 ? static_cast<double>(domain_.extent[d]) : 1;
    }
    return size;
  };
  if (varies(a) && varies(b)) {
    pin(volume(a) < volume(b) ? a : b);
  }
  if (varies(b)) {
    std::swap(a, b);
  }
  if (!varies(a)) {
    return lanewise(a, b, wrapping_mul);
  }
  if (!b.uniform) {
    pin(a);
    return lanewise(a, b, wrapping_mul);
  }
  Value r = scale(a, b.base[0]);
  r.known &= b.known;
  r.causes |= b.causes;
  return r;
}

Value Alu::mul(Value a, Value b, unsigned bits) {
  return wrap(product(std::move(a), std::move(b)), bits);
}

Value Alu::mul_wide(Value a, Value b, unsigned bits, bool is_signed) {
  if (!is_signed) {
    a = as_unsigned(std::move(a), bits);
    b = as_unsigned(std::move(b), bits);
  }
  return wrap(product(std::move(a), std::move(b)), 2 * bits);
}

Value Alu::mul_high(Value a, Value b, unsigned bits, bool is_signed) {
  if (!is_signed) {
    a = as_unsigned(std::move(a), bits);
    b = as_unsigned(std::move(b), bits);
  }
  pin(a);
  pin(b);
  return wrap(lanewise(a, b,
                       [&](std::int64_t x, std::int64_t y) {
                         if (bits == 64 && !is_signed) {
                           return static_cast<std::int64_t>(
                               (static_cast<unsigned __int128>(static_cast<std::uint64_t>(x)) *
                                static_cast<std::uint64_t>(y)) >>
                               64U);
                         }
                         return static_cast<std::int64_t>((static_cast<__int128>(x) * y) >> bits);
                       }),
              bits);
}

Value Alu::floor_div(const Value& v, std::int64_t divisor, Value* remainder) {
  Value quotient = v;
  Value rest = v;
  const unsigned lanes = v.uniform ? 1 : kLanes;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    quotient.base[lane] = floor_quotient(v.base[lane], divisor);
    rest.base[lane] = v.base[lane] - quotient.base[lane] * divisor;
  }
  for (unsigned d = 0; d < kDims; ++d) {
    const bool whole = v.coef[d] % divisor == 0;
    quotient.coef[d] = whole ? v.coef[d] / divisor : 0;
    rest.coef[d] = whole ? 0 : v.coef[d];
  }
  if (!constrain(rest, ~Mask{0}, 0, divisor - 1)) {
    if (remainder != nullptr) {
      *remainder = Value::unknown(kData);
    }
    return Value::unknown(kData);
  }
  if (remainder != nullptr) {
    *remainder = rest;
  }
  return quotient;
}

Value Alu::divide(Value a, Value b, unsigned bits, bool is_signed, bool remainder) {
  if (!is_signed) {
    a = as_unsigned(std::move(a), bits);
    b = as_unsigned(std::move(b), bits);
  }
  pin(b);
  bool plain = b.uniform && b.known != 0 && b.base[0] > 0;
  for (Mask rest = a.known & mask; rest != 0 && plain; rest &= rest - 1) {
    plain = a.at(static_cast<unsigned>(std::countr_zero(rest))) >= 0;
  }
  if (plain && constrain(a, ~Mask{0}, 0, std::numeric_limits<std::int64_t>::max())) {
    Value rest;
    Value quotient = floor_div(a, b.base[0], &rest);
    return remainder ? rest : quotient;
  }
  pin(a);
  return wrap(lanewise(a, b,
                       [&](std::int64_t x, std::int64_t y) -> std::int64_t {
                         if (y == 0 || (y == -1 && x == std::numeric_limits<std::int64_t>::min())) {
                           return remainder ? x : -1;
                         }
                         return remainder ? x % y : x / y;
                       }),
              bits);
}

Value Alu::shift_left(Value a, Value b, unsigned bits) {
  pin(b);
  if (b.uniform && b.known != 0) {
    const auto amount = static_cast<std::uint64_t>(b.base[0]);
    Value r = amount >= bits ? Value::constant(0)
                             : wrap(scale(a, static_cast<std::int64_t>(1ULL << amount)), bits);
    r.known &= a.known & b.known;
    r.causes |= a.causes | b.causes;
    return r;
  }
  pin(a);
  return wrap(lanewise(a, b,
                       [&](std::int64_t x, std::int64_t y) {
                         return y < 0 || y >= static_cast<std::int64_t>(bits)
                                    ? std::int64_t{0}
                                    : static_cast<std::int64_t>(static_cast<std::uint64_t>(x)
                                                                << static_cast<unsigned>(y));
                       }),
              bits);
}

Value Alu::shift_right(Value a, Value b, unsigned bits, bool is_signed) {
  if (!is_signed) {
    a = as_unsigned(std::move(a), bits);
  }
  pin(b);
  if (b.uniform && b.known != 0 && b.base[0] >= 0 && b.base[0] < 62) {
    Value r = floor_div(a, std::int64_t{1} << b.base[0], nullptr);
    r.known &= b.known;
    r.causes |= b.causes;
    return wrap(r, bits);
  }
  pin(a);
  return wrap(lanewise(a, b,
                       [&](std::int64_t x, std::int64_t y) {
                         if (!is_signed && bits == 64) {
                           return y < 0 || y > 63
                                      ? std::int64_t{0}
                                      : static_cast<std::int64_t>(static_cast<std::uint64_t>(x) >>
                                                                  static_cast<unsigned>(y));
                         }
                         return x >> std::clamp<std::int64_t>(y, 0, 63);
                       }),
              bits);
}

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

Value Alu::negate(Value a) {
  for (std::int64_t& each : a.base) {
    each = each == 0 ? 1 : 0;
  }
  return a;
}

Value Alu::less(const Value& a, const Value& b, unsigned bits, bool is_signed) {
  const Value x = is_signed ? a : as_unsigned(a, bits);
  const Value y = is_signed ? b : as_unsigned(b, bits);
  const Value difference = combine(x, y, -1);
  Value r = lanewise(difference, difference,
                     [](std::int64_t d, std::int64_t) { return std::int64_t{d < 0}; });
  Mask below = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    below |= r.at(lane) != 0 ? Mask{1} << lane : 0;
  }
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!constrain(difference, below, kMin, -1) || !constrain(difference, ~below, 0, kMax)) {
    return Value::unknown(kData | a.causes | b.causes);
  }
  return r;
}

Value Alu::equal(const Value& a, const Value& b) {
  Value difference = combine(a, b, -1);
  Mask below = 0;
  Mask same = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::int64_t d = difference.at(lane);
    below |= d < 0 ? Mask{1} << lane : 0;
    same |= d == 0 ? Mask{1} << lane : 0;
  }
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!constrain(difference, same, 0, 0) || !constrain(difference, below, kMin, -1) ||
      !constrain(difference, ~below & ~same, 1, kMax)) {
    return Value::unknown(kData | a.causes | b.causes);
  }
  return lanewise(difference, difference,
                  [](std::int64_t d, std::int64_t) { return std::int64_t{d == 0}; });
}

Value Alu::select(const Value& condition, Value a, Value b) {
  Mask chosen = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    chosen |= condition.at(lane) != 0 ? Mask{1} << lane : 0;
  }
  const Mask decided = condition.known & mask;
  if (decided == mask && (chosen & mask) == mask) {
    return a;
  }
  if (decided == mask && (chosen & mask) == 0) {
    return b;
  }
  bool alike = true;
  for (unsigned d = 0; d < kDims; ++d) {
    alike = alike && (a.coef[d] == b.coef[d] || !domain_.varies(d));
  }
  if (!alike) {
    pin(a);
    pin(b);
  }
  const bool same = a.uniform && b.uniform && a.base[0] == b.base[0] && alike;
  Value r = a;
  r.spread();
  r.causes = a.causes | b.causes | condition.causes;
  r.known = ((chosen & a.known) | (~chosen & b.known)) & (same ? ~Mask{0} : condition.known);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    r.base[lane] = (chosen >> lane & 1U) != 0 ? a.at(lane) : b.at(lane);
  }
  return r;
}

Value Alu::convert(const Value& a, unsigned source_bits, bool source_signed, unsigned bits) {
  Value v = wrap(a, source_bits);
  if (!source_signed) {
    v = as_unsigned(std::move(v), source_bits);
  }
  return wrap(std::move(v), bits);
}

}  // namespace mansard::model::kernel
