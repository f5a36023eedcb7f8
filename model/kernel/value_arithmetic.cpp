#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "model/kernel/value.hpp"
#include "model/kernel/value_numbers.hpp"

namespace mansard::model::kernel {

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

}  // namespace mansard::model::kernel
