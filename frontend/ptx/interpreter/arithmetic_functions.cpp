#include <array>
#include <bit>
#include <limits>

#include "frontend/ptx/interpreter/arithmetic_impl.hpp"

namespace mansard::frontend::ptx {
namespace {

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

}  // namespace

std::span<const Evaluator> function_evaluators() {
  static constexpr std::array kEvaluators{
      Evaluator{"rcp", unary<reciprocal>},
      Evaluator{"sqrt", unary<std::sqrt>},
      Evaluator{"rsqrt", unary<reciprocal_root>},
      Evaluator{"sin", unary<std::sin>},
      Evaluator{"cos", unary<std::cos>},
      Evaluator{"lg2", unary<std::log2>},
      Evaluator{"ex2", packed<unary<std::exp2>>},
      Evaluator{"tanh", packed<unary<std::tanh>>},
      Evaluator{"copysign", copysign_of},
      Evaluator{"testp", testp},
      Evaluator{"selp", selp},
      Evaluator{"slct", slct},
      Evaluator{"cvt", convert},
      Evaluator{kConvertPair, convert_pair},
      Evaluator{"set", set_of},
  };
  return kEvaluators;
}

}  // namespace mansard::frontend::ptx
