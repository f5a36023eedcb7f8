#include <array>
#include <cfloat>
#include <numbers>
#include <span>

#include "ir/expr.hpp"

/// exp2, log2 and pow, built of + - * / floor, min, max, less, select, scale2 and exponent2, so
/// that every back end computes the same bits. Largest errors in ulp, against long double over
/// dense sweeps (tests/ir/expr_math_test.cpp holds them):
///
///   exp2  1.20 where the result is normal, 0.86 where subnormal; 0 below -1075, infinity from 1024
///   on log2  0.501 of every positive x; -infinity of 0, infinity of infinity, NaN of negatives pow
///   1.34 where |y log2 x| < 1000; 0 or infinity past the ends as exp2. x^0 = 1, 0^y = 0 of
///   positive y
///
/// A NaN comes out where one goes in. The polynomials are minimax, by Remez exchange in 240 bits,
/// coefficients rounded to doubles. Where a double is not enough, a value is the sum of a `Pair`
/// (Dekker 1971); no step relies on FMA.
namespace mansard::ir {

namespace {

/// high + low, |low| <= ulp(high).
struct Pair {
  Expr high;
  Expr low;
};

/// 2^r = 1 + r * q(r), |r| <= 1/2, to 2^-58 relative.
constexpr std::array kExp2{std::numbers::ln2,     0x1.ebfbdff82c5a4p-3,  0x1.c6b08d7049fe8p-5,
                           0x1.3b2ab6fba011ap-7,  0x1.5d87fe78cd6d0p-10, 0x1.4309130ed8ce4p-13,
                           0x1.ffcbfba980b67p-17, 0x1.62bfc79d496e3p-20, 0x1.b5267ce06c68ap-24,
                           0x1.e61b4f9cdfb2ep-28, 0x1.e79bb6153c754p-32};

/// log2((1 + s) / (1 - s)) = s * (C + z * (C / 3 + z * p(z))), z = s^2, |s| <= 0.1716, C = 2 / ln
/// 2; to 2^-70 relative.
// NOLINTNEXTLINE(modernize-use-std-numbers): the first only resembles Euler's constant.
constexpr std::array kLog2{0x1.2776c50ef9bfep-1, 0x1.a61762a7adfaap-2, 0x1.484b13d79bf14p-2,
                           0x1.0c9a84bf8b91ap-2, 0x1.c68f2ed508564p-3, 0x1.89fedb348716dp-3,
                           0x1.59dfb0901f12bp-3, 0x1.5a68da4c35722p-3};
constexpr std::array kC{0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};
constexpr std::array kThirdOfC{0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55};

// Beyond this exponent every result is 0 or infinity.
constexpr double kExponentLimit = 1100;
// Stands for the logarithm of infinity where a product with it must stay a number.
constexpr double kHuge = 0x1p900;

Expr horner(std::span<const double> coefficients, Expr x) {
  Expr sum = x.pool().constant(coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) {
    sum = sum * x + coefficients[i];
  }
  return sum;
}

Pair pair_of(ExprPool& pool, const std::array<double, 2>& constants) {
  return {pool.constant(constants[0]), pool.constant(constants[1])};
}

/// a as the sum of two numbers of 26 bits.
Pair split(Expr a) {
  const Expr scaled = a * 0x1.0000002p27;
  const Expr high = scaled - (scaled - a);
  return {high, a - high};
}

/// a + b exactly, where |a| >= |b| or a is 0.
Pair sum(Expr a, Expr b) {
  const Expr high = a + b;
  return {high, b - (high - a)};
}

/// a * b exactly.
Pair product(Expr a, Expr b) {
  const Expr high = a * b;
  const Pair as = split(a);
  const Pair bs = split(b);
  const Expr missing =
      as.high * bs.high - high + as.high * bs.low + as.low * bs.high + as.low * bs.low;
  return {high, missing};
}

Pair product(const Pair& a, const Pair& b) {
  const Pair high = product(a.high, b.high);
  return {high.high, high.low + (a.high * b.low + a.low * b.high)};
}

Pair sum(const Pair& a, const Pair& b) {
  const Pair high = sum(a.high, b.high);
  return {high.high, high.low + (a.low + b.low)};
}

/// x = 2^exponent * mantissa, of a positive finite x; sqrt(1/2) <= mantissa <= sqrt(2).
struct Parts {
  Expr exponent;
  Expr mantissa;
};

Parts parts_of(Expr x) {
  const Expr is_small = less(x, DBL_MIN);
  const Expr normal = select(is_small, x * 0x1p54, x);
  const Expr exponent = exponent2(normal);
  const Expr mantissa = scale2(normal, 0 - exponent);  // In [1, 2).
  const Expr is_large = less(x.pool().constant(std::numbers::sqrt2), mantissa);
  return {exponent + is_large - is_small * 54, select(is_large, mantissa * 0.5, mantissa)};
}

/// (m - 1) / (m + 1).
Pair reduced(Expr m) {
  const Expr one = m.pool().constant(1);
  const Expr above = m + 1;
  const Expr above_low = m - (above - one);
  const Expr difference = m - 1;
  const Expr high = difference / above;
  const Pair back = product(high, above);
  const Expr rest = difference - back.high - back.low - high * above_low;
  return {high, rest / above};
}

/// The logarithm of a positive finite x; of any other, some pair of numbers.
Pair log2_pair(Expr x) {
  ExprPool& pool = x.pool();
  const Parts parts = parts_of(min(x, DBL_MAX));
  const Pair s = reduced(parts.mantissa);
  const Pair z = product(s, s);
  const Expr tail = z.high * horner(kLog2, z.high);
  const Pair third = sum(pair_of(pool, kThirdOfC), {tail, pool.constant(0)});
  const Pair series = sum(pair_of(pool, kC), product(z, third));
  const Pair fraction = product(s, series);
  return sum({parts.exponent, pool.constant(0)}, fraction);
}

/// 2^(high + low) with |low| < 1; `low` is dropped where `high` is out of range.
Expr exp2_of(Expr high, Expr low) {
  const Expr bounded = max(min(high, kExponentLimit), -kExponentLimit);
  const Expr whole = floor(bounded + 0.5);
  const Expr rest = bounded - whole + low;
  return scale2(rest * horner(kExp2, rest) + 1, whole);
}

/// An expression whose value is NaN; nothing folds it, since no operation of it is exact.
Expr not_a_number(ExprPool& pool) {
  const Expr infinity = pool.constant(kHuge) * kHuge;
  return infinity / infinity;
}

Expr exp2_body(Expr x) {
  return exp2_of(x, x.pool().constant(0));
}

/// `log` of a positive finite x, `huge` of infinity, -`huge` of 0; NaN of negatives and NaN.
Expr extended(Expr x, Expr log, Expr huge) {
  const Expr infinity = x.pool().constant(kHuge) * kHuge;
  const Expr positive = select(less(x, infinity), log, huge);
  // x - huge is NaN if x is.
  const Expr other = select(less(x, 0), not_a_number(x.pool()), x - huge);
  return select(less(x.pool().constant(0), x), positive, other);
}

Expr log2_body(Expr x) {
  const Pair log = log2_pair(x);
  return extended(x, log.high + log.low, x.pool().constant(kHuge) * kHuge);
}

Expr pow_body(Expr x, Expr y) {
  ExprPool& pool = x.pool();
  const Expr bounded_y = max(min(y, kHuge), -kHuge);
  const Pair log = log2_pair(x);
  const Pair exponent = product(bounded_y, extended(x, log.high, pool.constant(kHuge)));
  const Expr low = exponent.low + bounded_y * log.low;
  const Expr is_in_range =
      less(exponent.high, kExponentLimit) * less(pool.constant(-kExponentLimit), exponent.high);
  return exp2_of(exponent.high, select(is_in_range, low, pool.constant(0)));
}

Expr call_unary(std::string_view name, std::string_view parameter, Expr (*body)(Expr), Expr x) {
  ExprPool& pool = x.pool();
  const Function* function = pool.find_function(name);
  if (function == nullptr) {
    const Expr symbol = pool.symbol(parameter);
    function = &pool.define(std::string(name), {symbol}, body(symbol));
  }
  return pool.call(*function, {x});
}

}  // namespace

Expr exp2(Expr x) {
  return call_unary("exp2", "exp2.x", exp2_body, x);
}

Expr log2(Expr x) {
  return call_unary("log2", "log2.x", log2_body, x);
}

Expr pow(Expr x, Expr y) {
  ExprPool& pool = x.pool();
  const Function* function = pool.find_function("pow");
  if (function == nullptr) {
    const Expr base = pool.symbol("pow.x");
    const Expr exponent = pool.symbol("pow.y");
    function = &pool.define("pow", {base, exponent}, pow_body(base, exponent));
  }
  return pool.call(*function, {x, y});
}

}  // namespace mansard::ir
