#include "frontend/ptx/interpreter/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>

namespace mansard::frontend::ptx {
namespace {

using Wide = unsigned __int128;
using SignedWide = __int128;

bool is_float(Type type) {
  return kind_of(type) == TypeKind::kFloat;
}
bool is_signed(Type type) {
  return kind_of(type) == TypeKind::kSigned;
}

double f(const Alu& alu, std::uint64_t bits) {
  return as_float(alu.type, bits, alu.flushes);
}

std::uint64_t from(const Alu& alu, double value) {
  if (alu.saturates) {
    value = std::isnan(value) ? 0.0 : std::clamp(value, 0.0, 1.0);
  }
  return float_bits(alu.type, value, alu.rounding, alu.flushes);
}

SignedWide whole(Type type, std::uint64_t bits) {
  return is_signed(type) ? SignedWide{as_signed(type, bits)} : SignedWide{as_unsigned(type, bits)};
}

/// Cuts to the type, or clamps to its range with .sat.
std::uint64_t from_whole(const Alu& alu, SignedWide value) {
  if (alu.saturates) {
    const unsigned width = bits_of(alu.type);
    const SignedWide one = 1;
    const SignedWide high = is_signed(alu.type) ? (one << (width - 1)) - 1 : (one << width) - 1;
    const SignedWide low = is_signed(alu.type) ? -(one << (width - 1)) : 0;
    value = std::clamp(value, low, high);
  }
  return as_unsigned(alu.type, static_cast<std::uint64_t>(value));
}

std::uint64_t add_with(const Alu& alu, std::uint64_t a, std::uint64_t b, bool in, bool& carry) {
  const Wide sum = Wide{as_unsigned(alu.type, a)} + as_unsigned(alu.type, b) + (in ? 1U : 0U);
  if (alu.writes_carry) {
    carry = (sum >> bits_of(alu.type)) != 0;
  }
  return as_unsigned(alu.type, static_cast<std::uint64_t>(sum));
}

std::uint64_t subtract_with(const Alu& alu, std::uint64_t a, std::uint64_t b, bool in,
                            bool& carry) {
  const std::uint64_t x = as_unsigned(alu.type, a);
  const std::uint64_t y = as_unsigned(alu.type, b);
  if (alu.writes_carry) {
    carry = Wide{x} < Wide{y} + (in ? 1U : 0U);  // The borrow.
  }
  return as_unsigned(alu.type, x - y - (in ? 1U : 0U));
}

std::uint64_t add(const Alu& alu, const Sources& in, bool& carry) {
  if (is_float(alu.type)) {
    return from(alu, f(alu, in[0]) + f(alu, in[1]));
  }
  if (alu.saturates) {
    return from_whole(alu, whole(alu.type, in[0]) + whole(alu.type, in[1]));
  }
  return add_with(alu, in[0], in[1], false, carry);
}

std::uint64_t addc(const Alu& alu, const Sources& in, bool& carry) {
  return add_with(alu, in[0], in[1], carry, carry);
}

std::uint64_t sub(const Alu& alu, const Sources& in, bool& carry) {
  if (is_float(alu.type)) {
    return from(alu, f(alu, in[0]) - f(alu, in[1]));
  }
  if (alu.saturates) {
    return from_whole(alu, whole(alu.type, in[0]) - whole(alu.type, in[1]));
  }
  return subtract_with(alu, in[0], in[1], false, carry);
}

std::uint64_t subc(const Alu& alu, const Sources& in, bool& carry) {
  return subtract_with(alu, in[0], in[1], carry, carry);
}

std::uint64_t multiply_float(const Alu& alu, const Sources& in, bool&) {
  return from(alu, f(alu, in[0]) * f(alu, in[1]));
}

std::uint64_t mul_lo(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[0] * in[1]);
}

SignedWide product(const Alu& alu, const Sources& in) {
  if (is_signed(alu.type)) {
    return SignedWide{as_signed(alu.type, in[0])} * as_signed(alu.type, in[1]);
  }
  return static_cast<SignedWide>(Wide{as_unsigned(alu.type, in[0])} * as_unsigned(alu.type, in[1]));
}

std::uint64_t mul_hi(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, static_cast<std::uint64_t>(static_cast<Wide>(product(alu, in)) >>
                                                          bits_of(alu.type)));
}

std::uint64_t mul_wide(const Alu& alu, const Sources& in, bool&) {
  return static_cast<std::uint64_t>(product(alu, in));
}

std::uint64_t mad_lo(const Alu& alu, const Sources& in, bool& carry) {
  return add_with(alu, in[0] * in[1], in[2], false, carry);
}

std::uint64_t mad_hi(const Alu& alu, const Sources& in, bool& carry) {
  return add_with(alu, mul_hi(alu, in, carry), in[2], false, carry);
}

std::uint64_t mad_wide(const Alu& alu, const Sources& in, bool&) {
  return static_cast<std::uint64_t>(product(alu, in)) + in[2];
}

std::uint64_t madc_lo(const Alu& alu, const Sources& in, bool& carry) {
  return add_with(alu, in[0] * in[1], in[2], carry, carry);
}

std::uint64_t madc_hi(const Alu& alu, const Sources& in, bool& carry) {
  bool unused = false;
  return add_with(alu, mul_hi(alu, in, unused), in[2], carry, carry);
}

/// The operand of mul24 and mad24.
std::int64_t low_24(const Alu& alu, std::uint64_t bits) {
  constexpr unsigned kDropped = 40;
  return is_signed(alu.type) ? static_cast<std::int64_t>(bits << kDropped) >> kDropped
                             : static_cast<std::int64_t>(bits & 0xffffff);
}

std::uint64_t mul24_lo(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, static_cast<std::uint64_t>(low_24(alu, in[0]) * low_24(alu, in[1])));
}

std::uint64_t mad24_lo(const Alu& alu, const Sources& in, bool& carry) {
  return as_unsigned(alu.type, mul24_lo(alu, in, carry) + in[2]);
}

std::uint64_t sad(const Alu& alu, const Sources& in, bool&) {
  const SignedWide difference = whole(alu.type, in[0]) - whole(alu.type, in[1]);
  return as_unsigned(alu.type,
                     in[2] + static_cast<std::uint64_t>(difference < 0 ? -difference : difference));
}

std::uint64_t div(const Alu& alu, const Sources& in, bool&) {
  if (is_float(alu.type)) {
    return from(alu, f(alu, in[0]) / f(alu, in[1]));
  }
  const SignedWide divisor = whole(alu.type, in[1]);
  // By zero the machine gives all ones.
  return divisor == 0 ? as_unsigned(alu.type, ~std::uint64_t{0})
                      : from_whole(alu, whole(alu.type, in[0]) / divisor);
}

std::uint64_t rem(const Alu& alu, const Sources& in, bool&) {
  const SignedWide divisor = whole(alu.type, in[1]);
  return divisor == 0 ? as_unsigned(alu.type, in[0])
                      : from_whole(alu, whole(alu.type, in[0]) % divisor);
}

std::uint64_t fused(const Alu& alu, const Sources& in, bool&) {
  const double a = f(alu, in[0]);
  const double b = f(alu, in[1]);
  const double c = f(alu, in[2]);
  if (alu.type == Type::kF32 && alu.rounding == Rounding::kNearest) {
    return from(alu, static_cast<double>(std::fmaf(static_cast<float>(a), static_cast<float>(b),
                                                   static_cast<float>(c))));
  }
  const double value = std::fma(a, b, c);
  return from(alu, alu.form->has("relu") ? std::max(value, 0.0) : value);
}

std::uint64_t abs_of(const Alu& alu, const Sources& in, bool&) {
  if (is_float(alu.type)) {
    return from(alu, std::fabs(f(alu, in[0])));
  }
  const SignedWide value = whole(alu.type, in[0]);
  return from_whole(alu, value < 0 ? -value : value);
}

std::uint64_t neg(const Alu& alu, const Sources& in, bool&) {
  return is_float(alu.type) ? from(alu, -f(alu, in[0])) : from_whole(alu, -whole(alu.type, in[0]));
}

/// Of two numbers the smaller or larger; of a NaN and a number the number, or NaN with .NaN.
double extreme(const Alu& alu, double a, double b, bool smaller) {
  if (alu.form->has("NaN") && (std::isnan(a) || std::isnan(b))) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return smaller ? std::fmin(a, b) : std::fmax(a, b);
}

std::uint64_t extreme_of(const Alu& alu, const Sources& in, bool smaller) {
  if (is_float(alu.type)) {
    return from(alu, extreme(alu, f(alu, in[0]), f(alu, in[1]), smaller));
  }
  const SignedWide a = whole(alu.type, in[0]);
  const SignedWide b = whole(alu.type, in[1]);
  const SignedWide value = smaller ? std::min(a, b) : std::max(a, b);
  return from_whole(alu, alu.form->has("relu") && value < 0 ? SignedWide{0} : value);
}

std::uint64_t min_of(const Alu& alu, const Sources& in, bool&) {
  return extreme_of(alu, in, true);
}
std::uint64_t max_of(const Alu& alu, const Sources& in, bool&) {
  return extreme_of(alu, in, false);
}

std::uint64_t popc(const Alu& alu, const Sources& in, bool&) {
  return static_cast<std::uint64_t>(std::popcount(as_unsigned(alu.type, in[0])));
}

std::uint64_t clz(const Alu& alu, const Sources& in, bool&) {
  const auto zeros = static_cast<unsigned>(std::countl_zero(as_unsigned(alu.type, in[0])));
  return zeros - (64 - bits_of(alu.type));
}

std::uint64_t bfind(const Alu& alu, const Sources& in, bool&) {
  std::uint64_t value = as_unsigned(alu.type, in[0]);
  if (is_signed(alu.type) && as_signed(alu.type, in[0]) < 0) {
    value = as_unsigned(alu.type, ~value);
  }
  if (value == 0) {
    return 0xffffffff;
  }
  const auto position = static_cast<std::uint64_t>(63 - std::countl_zero(value));
  return alu.form->has("shiftamt") ? bits_of(alu.type) - 1 - position : position;
}

std::uint64_t brev(const Alu& alu, const Sources& in, bool&) {
  std::uint64_t reversed = 0;
  for (unsigned i = 0; i < bits_of(alu.type); ++i) {
    reversed = (reversed << 1) | ((in[0] >> i) & 1);
  }
  return reversed;
}

std::uint64_t bfe(const Alu& alu, const Sources& in, bool&) {
  const unsigned width = bits_of(alu.type);
  const auto position = static_cast<unsigned>(in[1] & 0xff);
  const auto length = static_cast<unsigned>(in[2] & 0xff);
  const std::uint64_t value = as_unsigned(alu.type, in[0]);
  if (length == 0) {
    return 0;
  }
  const bool negative =
      is_signed(alu.type) && ((value >> std::min(position + length - 1, width - 1)) & 1) != 0;
  std::uint64_t result = position >= width ? 0 : value >> position;
  const unsigned kept = std::min(length, position >= width ? 0 : width - position);
  if (kept < 64) {
    result &= (std::uint64_t{1} << kept) - 1;
    result |= negative ? ~((std::uint64_t{1} << kept) - 1) : 0;
  }
  return as_unsigned(alu.type, result);
}

std::uint64_t bfi(const Alu& alu, const Sources& in, bool&) {
  const unsigned width = bits_of(alu.type);
  const auto position = static_cast<unsigned>(in[2] & 0xff);
  const auto length = static_cast<unsigned>(in[3] & 0xff);
  if (position >= width || length == 0) {
    return as_unsigned(alu.type, in[1]);
  }
  const unsigned kept = std::min(length, width - position);
  const std::uint64_t mask = (kept >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << kept) - 1)
                             << position;
  return as_unsigned(alu.type, (in[1] & ~mask) | ((in[0] << position) & mask));
}

std::uint64_t bit_and(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[0] & in[1]);
}
std::uint64_t bit_or(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[0] | in[1]);
}
std::uint64_t bit_xor(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[0] ^ in[1]);
}
std::uint64_t bit_not(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, ~in[0]);
}
std::uint64_t cnot(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[0]) == 0 ? 1 : 0;
}

std::uint64_t lop3(const Alu&, const Sources& in, bool&) {
  std::uint64_t result = 0;
  for (unsigned row = 0; row < 8; ++row) {
    if (((in[3] >> row) & 1) != 0) {
      result |= ((row & 4) != 0 ? in[0] : ~in[0]) & ((row & 2) != 0 ? in[1] : ~in[1]) &
                ((row & 1) != 0 ? in[2] : ~in[2]);
    }
  }
  return result & 0xffffffff;
}

std::uint64_t shl(const Alu& alu, const Sources& in, bool&) {
  const std::uint64_t amount = in[1] & 0xffffffff;
  return amount >= bits_of(alu.type) ? 0 : as_unsigned(alu.type, in[0] << amount);
}

std::uint64_t shr(const Alu& alu, const Sources& in, bool&) {
  const std::uint64_t amount = std::min<std::uint64_t>(in[1] & 0xffffffff, bits_of(alu.type));
  if (is_signed(alu.type)) {
    const std::int64_t value = as_signed(alu.type, in[0]);
    return as_unsigned(alu.type,
                       static_cast<std::uint64_t>(value >> std::min<std::uint64_t>(amount, 63)));
  }
  return amount >= 64 ? 0 : as_unsigned(alu.type, in[0]) >> amount;
}

std::uint64_t funnel(const Alu& alu, const Sources& in, bool left) {
  const std::uint64_t amount =
      alu.form->has("wrap") ? in[2] & 31 : std::min<std::uint64_t>(in[2] & 0xffffffff, 32);
  const std::uint64_t both = ((in[1] & 0xffffffff) << 32) | (in[0] & 0xffffffff);
  return (left ? (both << amount) >> 32 : both >> amount) & 0xffffffff;
}

std::uint64_t shf_l(const Alu& alu, const Sources& in, bool&) {
  return funnel(alu, in, true);
}
std::uint64_t shf_r(const Alu& alu, const Sources& in, bool&) {
  return funnel(alu, in, false);
}

std::uint64_t prmt(const Alu&, const Sources& in, bool&) {
  const std::uint64_t bytes = ((in[1] & 0xffffffff) << 32) | (in[0] & 0xffffffff);
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint64_t selector = (in[2] >> (4 * i)) & 0xf;
    std::uint64_t byte = (bytes >> (8 * (selector & 7))) & 0xff;
    if ((selector & 8) != 0) {
      byte = (byte & 0x80) != 0 ? 0xff : 0;
    }
    result |= byte << (8 * i);
  }
  return result;
}

std::uint64_t dp4a(const Alu& alu, const Sources& in, bool&) {
  const Type a = alu.form->type(0) == Type::kS32 ? Type::kS8 : Type::kU8;
  const Type b = alu.form->type(1) == Type::kS32 ? Type::kS8 : Type::kU8;
  auto sum = static_cast<std::int64_t>(in[2]);
  for (unsigned i = 0; i < 4; ++i) {
    sum += static_cast<std::int64_t>(whole(a, in[0] >> (8 * i)) * whole(b, in[1] >> (8 * i)));
  }
  return static_cast<std::uint64_t>(sum) & 0xffffffff;
}

template <double (*Function)(double)>
std::uint64_t unary(const Alu& alu, const Sources& in, bool&) {
  return from(alu, Function(f(alu, in[0])));
}

double reciprocal(double x) {
  return 1.0 / x;
}
double reciprocal_root(double x) {
  return 1.0 / std::sqrt(x);
}

std::uint64_t copysign_of(const Alu& alu, const Sources& in, bool&) {
  return from(alu, std::copysign(f(alu, in[1]), f(alu, in[0])));
}

std::uint64_t testp(const Alu& alu, const Sources& in, bool&) {
  const double value = f(alu, in[0]);
  const double smallest = alu.type == Type::kF32
                              ? static_cast<double>(std::numeric_limits<float>::min())
                              : std::numeric_limits<double>::min();
  const bool is_normal = std::isfinite(value) && std::fabs(value) >= smallest;
  const Form& form = *alu.form;
  const bool holds =
      (form.has("finite") && std::isfinite(value)) || (form.has("infinite") && std::isinf(value)) ||
      (form.has("number") && !std::isnan(value)) || (form.has("notanumber") && std::isnan(value)) ||
      (form.has("normal") && is_normal) ||
      (form.has("subnormal") && !is_normal && std::isfinite(value) && value != 0);
  return holds ? 1 : 0;
}

std::uint64_t selp(const Alu& alu, const Sources& in, bool&) {
  return as_unsigned(alu.type, in[2] != 0 ? in[0] : in[1]);
}

std::uint64_t slct(const Alu& alu, const Sources& in, bool&) {
  const bool first = is_float(alu.source) ? as_float(alu.source, in[2], alu.flushes) >= 0
                                          : as_signed(alu.source, in[2]) >= 0;
  return as_unsigned(alu.type, first ? in[0] : in[1]);
}

/// A float as an integer of the type: rounded as told, clamped, NaN to 0.
std::uint64_t to_whole(const Alu& alu, double value) {
  if (std::isnan(value)) {
    return 0;
  }
  switch (alu.rounding) {
    case Rounding::kZero:
      value = std::trunc(value);
      break;
    case Rounding::kDown:
      value = std::floor(value);
      break;
    case Rounding::kUp:
      value = std::ceil(value);
      break;
    case Rounding::kNearest:
      value = std::nearbyint(value);
  }
  const int width = static_cast<int>(bits_of(alu.type));
  const double high = std::ldexp(1.0, is_signed(alu.type) ? width - 1 : width);
  const double low = is_signed(alu.type) ? -high : 0.0;
  if (value >= high) {
    const std::uint64_t ones = as_unsigned(alu.type, ~std::uint64_t{0});
    return is_signed(alu.type) ? ones >> 1 : ones;
  }
  return as_unsigned(alu.type,
                     static_cast<std::uint64_t>(static_cast<SignedWide>(std::max(value, low))));
}

std::uint64_t convert(const Alu& alu, const Sources& in, bool&) {
  if (is_float(alu.source)) {
    const double value = as_float(alu.source, in[0], alu.flushes);
    if (!is_float(alu.type)) {
      return to_whole(alu, value);
    }
    if (alu.rounds_whole) {
      double rounded = std::nearbyint(value);
      rounded = alu.rounding == Rounding::kZero   ? std::trunc(value)
                : alu.rounding == Rounding::kDown ? std::floor(value)
                : alu.rounding == Rounding::kUp   ? std::ceil(value)
                                                  : rounded;
      return from(alu, rounded);
    }
    return from(alu, value);
  }
  const SignedWide value = whole(alu.source, in[0]);
  if (is_float(alu.type)) {
    return from(alu, static_cast<double>(value));
  }
  const std::uint64_t cut = from_whole(alu, value);
  // Registers may be wider than the type; they take it with its sign.
  return is_signed(alu.type) ? static_cast<std::uint64_t>(as_signed(alu.type, cut)) : cut;
}

/// cvt.rn.f16x2.f32 d, a, b: a above b.
std::uint64_t convert_pair(const Alu& alu, const Sources& in, bool&) {
  Alu half = alu;
  half.type = element_of(alu.type);
  const double high = as_float(Type::kF32, in[0], alu.flushes);
  const double low = as_float(Type::kF32, in[1], alu.flushes);
  const bool relu = alu.form->has("relu");
  return (from(half, relu ? std::max(high, 0.0) : high) << 16) |
         from(half, relu ? std::max(low, 0.0) : low);
}

std::uint64_t set_of(const Alu& alu, const Sources& in, bool&) {
  const bool holds = compare(alu.compare, alu.source, in[0], in[1], alu.flushes);
  if (!holds) {
    return 0;
  }
  return is_float(alu.type) ? float_bits(alu.type, 1.0, Rounding::kNearest, false)
                            : as_unsigned(alu.type, ~std::uint64_t{0});
}

/// The halves of packed operands, each through the evaluator of its type.
template <Evaluate Scalar>
std::uint64_t packed(const Alu& alu, const Sources& in, bool& carry) {
  const Type element = element_of(alu.type);
  if (element == alu.type) {
    return Scalar(alu, in, carry);
  }
  Alu half = alu;
  half.type = element;
  const unsigned width = bits_of(element);
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 2; ++i) {
    Sources part{};
    for (std::size_t k = 0; k < kMostSources; ++k) {
      part[k] = as_unsigned(element, in[k] >> (i * width));
    }
    result |= as_unsigned(element, Scalar(half, part, carry)) << (i * width);
  }
  return result;
}

const std::unordered_map<std::string_view, Evaluate>& evaluators() {
  static const std::unordered_map<std::string_view, Evaluate> kEvaluators = {
      {"add", packed<add>},
      {"addc", addc},
      {"sub", packed<sub>},
      {"subc", subc},
      {"mul", packed<multiply_float>},
      {"mul.lo", mul_lo},
      {"mul.hi", mul_hi},
      {"mul.wide", mul_wide},
      {"mad", packed<fused>},
      {"mad.lo", mad_lo},
      {"mad.hi", mad_hi},
      {"mad.wide", mad_wide},
      {"madc.lo", madc_lo},
      {"madc.hi", madc_hi},
      {"mul24.lo", mul24_lo},
      {"mad24.lo", mad24_lo},
      {"sad", sad},
      {"div", div},
      {"rem", rem},
      {"fma", packed<fused>},
      {"abs", packed<abs_of>},
      {"neg", packed<neg>},
      {"min", packed<min_of>},
      {"max", packed<max_of>},
      {"popc", popc},
      {"clz", clz},
      {"bfind", bfind},
      {"brev", brev},
      {"bfe", bfe},
      {"bfi", bfi},
      {"and", bit_and},
      {"or", bit_or},
      {"xor", bit_xor},
      {"not", bit_not},
      {"cnot", cnot},
      {"lop3", lop3},
      {"shl", shl},
      {"shr", shr},
      {"shf.l", shf_l},
      {"shf.r", shf_r},
      {"prmt", prmt},
      {"dp4a", dp4a},
      {"rcp", unary<reciprocal>},
      {"sqrt", unary<std::sqrt>},
      {"rsqrt", unary<reciprocal_root>},
      {"sin", unary<std::sin>},
      {"cos", unary<std::cos>},
      {"lg2", unary<std::log2>},
      {"ex2", packed<unary<std::exp2>>},
      {"tanh", packed<unary<std::tanh>>},
      {"copysign", copysign_of},
      {"testp", testp},
      {"selp", selp},
      {"slct", slct},
      {"cvt", convert},
      {"set", set_of},
  };
  return kEvaluators;
}

constexpr std::array<std::string_view, 18> kCompares = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                                        "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                                        "ltu", "leu", "gtu", "geu", "num", "nan"};

Rounding rounding_of(const Form& form) {
  const auto any = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](auto word) { return form.has(word); });
  };
  if (any({"rz", "rzi"})) {
    return Rounding::kZero;
  }
  if (any({"rm", "rmi"})) {
    return Rounding::kDown;
  }
  return any({"rp", "rpi"}) ? Rounding::kUp : Rounding::kNearest;
}

}  // namespace

Alu alu_of(const Form& form) {
  Alu alu;
  alu.form = &form;
  alu.type = form.type(0);
  alu.source = form.type();
  alu.rounding = rounding_of(form);
  alu.rounds_whole = form.has("rni") || form.has("rzi") || form.has("rmi") || form.has("rpi");
  alu.saturates = form.has("sat");
  alu.flushes = form.has("ftz");
  alu.writes_carry = form.has("cc");
  for (const std::string_view modifier : form.modifiers) {
    if (std::find(kCompares.begin(), kCompares.end(), modifier) != kCompares.end()) {
      alu.compare = modifier;
    }
  }
  return alu;
}

Evaluate evaluator_of(const Form& form) {
  if (form.opcode == "cvt") {
    const TypeKind to = kind_of(form.type(0));
    const TypeKind source = kind_of(form.type(1));
    const bool is_small = bits_of(form.type(0)) < 16 && to == TypeKind::kFloat;
    if (to == TypeKind::kFloatPacked) {
      const bool halves = form.type(0) == Type::kF16x2 || form.type(0) == Type::kBf16x2;
      return halves && form.type(1) == Type::kF32 && !form.has("rs") ? convert_pair : nullptr;
    }
    return is_small || source == TypeKind::kFloatPacked || form.has("pack") ? nullptr : convert;
  }
  const bool is_whole =
      kind_of(form.type(0)) == TypeKind::kUnsigned || kind_of(form.type(0)) == TypeKind::kSigned;
  std::string name(form.opcode);
  if (name == "shf" || ((name == "mul" || name == "mad") && is_whole) || name == "madc" ||
      name == "mul24" || name == "mad24") {
    name += '.';
    name += form.modifiers.empty() ? std::string_view() : form.modifiers.front();
  }
  const bool has_predicate_result = name == "lop3" && form.modifiers.size() > 1;
  const auto found = evaluators().find(name);
  return found == evaluators().end() || has_predicate_result ? nullptr : found->second;
}

bool compare(std::string_view how, Type type, std::uint64_t a, std::uint64_t b, bool flush) {
  if (is_float(type)) {
    const double x = as_float(type, a, flush);
    const double y = as_float(type, b, flush);
    const bool unordered = std::isnan(x) || std::isnan(y);
    if (how == "num" || how == "nan") {
      return unordered == (how == "nan");
    }
    if (unordered) {
      return how.size() == 3;  // equ, ltu, ...: true of NaN.
    }
    how = how.substr(0, 2);
    return (how == "eq" && x == y) || (how == "ne" && x != y) || (how == "lt" && x < y) ||
           (how == "le" && x <= y) || (how == "gt" && x > y) || (how == "ge" && x >= y);
  }
  const SignedWide x = whole(type, a);
  const SignedWide y = whole(type, b);
  return (how == "eq" && x == y) || (how == "ne" && x != y) ||
         ((how == "lt" || how == "lo") && x < y) || ((how == "le" || how == "ls") && x <= y) ||
         ((how == "gt" || how == "hi") && x > y) || ((how == "ge" || how == "hs") && x >= y);
}

std::uint64_t atomic_result(const Form& form, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  const Type type = form.type();
  const Alu alu = alu_of(form);
  bool carry = false;
  if (form.has("cas")) {
    return as_unsigned(type, old) == as_unsigned(type, b) ? c : old;
  }
  if (form.has("exch")) {
    return b;
  }
  if (form.has("inc")) {
    return as_unsigned(type, old) >= as_unsigned(type, b) ? 0 : old + 1;
  }
  if (form.has("dec")) {
    const bool wraps = as_unsigned(type, old) == 0 || as_unsigned(type, old) > as_unsigned(type, b);
    return wraps ? b : old - 1;
  }
  struct Operation {
    std::string_view name;
    Evaluate evaluate;
  };
  constexpr std::array kOperations = {
      Operation{"add", packed<add>},    Operation{"min", packed<min_of>},
      Operation{"max", packed<max_of>}, Operation{"and", bit_and},
      Operation{"or", bit_or},          Operation{"xor", bit_xor}};
  for (const Operation& operation : kOperations) {
    if (form.has(operation.name)) {
      return operation.evaluate(alu, {old, b, 0, 0}, carry);
    }
  }
  return old;
}

}  // namespace mansard::frontend::ptx
