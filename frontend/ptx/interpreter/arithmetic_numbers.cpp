#include <array>
#include <bit>
#include <limits>

#include "frontend/ptx/interpreter/arithmetic_impl.hpp"

namespace mansard::frontend::ptx {
namespace {

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

}  // namespace

std::span<const Evaluator> number_evaluators() {
  static constexpr std::array kEvaluators{
      Evaluator{"add", packed<add>},
      Evaluator{"addc", addc},
      Evaluator{"sub", packed<sub>},
      Evaluator{"subc", subc},
      Evaluator{"mul", packed<multiply_float>},
      Evaluator{"mul.lo", mul_lo},
      Evaluator{"mul.hi", mul_hi},
      Evaluator{"mul.wide", mul_wide},
      Evaluator{"mad", packed<fused>},
      Evaluator{"mad.lo", mad_lo},
      Evaluator{"mad.hi", mad_hi},
      Evaluator{"mad.wide", mad_wide},
      Evaluator{"madc.lo", madc_lo},
      Evaluator{"madc.hi", madc_hi},
      Evaluator{"mul24.lo", mul24_lo},
      Evaluator{"mad24.lo", mad24_lo},
      Evaluator{"sad", sad},
      Evaluator{"div", div},
      Evaluator{"rem", rem},
      Evaluator{"fma", packed<fused>},
      Evaluator{"abs", packed<abs_of>},
      Evaluator{"neg", packed<neg>},
      Evaluator{"min", packed<min_of>},
      Evaluator{"max", packed<max_of>},
  };
  return kEvaluators;
}

}  // namespace mansard::frontend::ptx
