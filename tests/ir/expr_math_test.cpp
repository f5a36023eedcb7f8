#include <cmath>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include "ir/expr_eval.hpp"

namespace mansard::ir {
namespace {

using Random = std::mt19937_64;
constexpr int kPoints = 200'000;

double between(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// How far `found` is from the truth, in units of the last place that a double of that size has.
double ulps(double found, long double truth) {
  int exponent = 0;
  std::frexp(truth, &exponent);
  const int place = std::max(exponent, std::numeric_limits<double>::min_exponent) - 53;
  return static_cast<double>(std::fabs(found - truth) / std::ldexp(1.0L, place));
}

/// A function of ir/expr_math.cpp with its arguments x and y.
class Mathematics {
 public:
  explicit Mathematics(Expr (*build)(Expr x, Expr y))
      : root_(build(pool_.symbol("x"), pool_.symbol("y"))), evaluator_({&root_, 1}) {}

  double operator()(double x, double y = 0) {
    const std::vector<double> values{x, y};
    double result = 0;
    evaluator_.evaluate(std::span(values).first(evaluator_.symbols().size()), {&result, 1});
    return result;
  }

 private:
  ExprPool pool_;
  Expr root_;
  Evaluator evaluator_;
};

Mathematics exponential() {
  return Mathematics([](Expr x, Expr) { return exp2(x); });
}
Mathematics logarithm() {
  return Mathematics([](Expr x, Expr) { return log2(x); });
}
Mathematics power() {
  return Mathematics([](Expr x, Expr y) { return pow(x, y); });
}

/// Positive numbers of every size, some close to 1.
double positive(Random& random, int i) {
  switch (i % 3) {
    case 0:
      return std::exp2(between(random, -1022, 1023.9));
    case 1:
      return between(random, 0.25, 4);
    default:
      return 1 + between(random, -1, 1) * std::exp2(between(random, -50, -1));
  }
}

TEST_CASE("exp2 is within 1.25 ulp wherever its result is normal, and within 1 below",
          "[ir][expr][math]") {
  Random random(1);
  Mathematics f = exponential();
  double worst = 0;
  double worst_below = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double x = i % 2 == 0 ? between(random, -1021, 1023.999) : between(random, -2, 2);
    worst = std::max(worst, ulps(f(x), std::exp2(static_cast<long double>(x))));
    const double low = between(random, -1076, -1022);
    worst_below = std::max(worst_below, ulps(f(low), std::exp2(static_cast<long double>(low))));
  }
  CHECK(worst < 1.25);
  CHECK(worst_below < 1);
}

TEST_CASE("log2 is within 0.51 ulp of every positive number, subnormals too", "[ir][expr][math]") {
  Random random(2);
  Mathematics f = logarithm();
  double worst = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double x = positive(random, i);
    const double tiny = std::ldexp(between(random, 0, 1), -1022 - i % 50);
    worst = std::max(worst, x == 1 ? 0 : ulps(f(x), std::log2(static_cast<long double>(x))));
    worst = std::max(worst, ulps(f(tiny), std::log2(static_cast<long double>(tiny))));
  }
  CHECK(worst < 0.51);
}

TEST_CASE("pow is within 1.5 ulp where |y log2 x| is below 1000", "[ir][expr][math]") {
  Random random(3);
  Mathematics f = power();
  double worst = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double x = positive(random, i);
    const double y = between(random, -1000, 1000) / (i % 2 == 0 ? std::log2(x) : 1000);
    const double exponent = y * std::log2(x);
    if (std::isfinite(y) && std::abs(exponent) < 1000) {
      worst = std::max(
          worst, ulps(f(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y))));
    }
  }
  CHECK(worst < 1.5);
}

TEST_CASE("powers of two are exact both ways", "[ir][expr][math]") {
  Mathematics exp2_of = exponential();
  Mathematics log2_of = logarithm();
  for (int n = -1074; n <= 1023; ++n) {
    CHECK(exp2_of(n) == std::ldexp(1, n));
    CHECK(log2_of(std::ldexp(1, n)) == n);
  }
}

TEST_CASE("the ends of exp2, log2 and pow are limits, not surprises", "[ir][expr][math]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Mathematics exp2_of = exponential();
  for (const double x : {1024.0, 1e300, infinity}) {
    CHECK(exp2_of(x) == infinity);
    CHECK(exp2_of(-1.1 * x) == 0);
  }
  CHECK(std::isnan(exp2_of(nan)));
  Mathematics log2_of = logarithm();
  CHECK(log2_of(0) == -infinity);
  CHECK(log2_of(infinity) == infinity);
  CHECK(std::isnan(log2_of(-1)));
  CHECK(std::isnan(log2_of(nan)));
  Mathematics pow_of = power();
  for (const double x : {0.0, 0.5, 1.0, 3.0, infinity}) {
    for (const double y : {0.0, 1.0, -1.0, 2.5, 1e300, infinity, -infinity}) {
      CAPTURE(x, y);
      const double expected = std::pow(x, y);
      const bool is_limit = expected == 0 || expected == 1 || std::isinf(expected);
      CHECK(
          (is_limit ? pow_of(x, y) == expected : pow_of(x, y) == Approx(expected).epsilon(1e-15)));
    }
  }
  CHECK(std::isnan(pow_of(-2, 3)));
  CHECK(std::isnan(pow_of(nan, 3)));
}

TEST_CASE("(1 - k/E)^T, of which an expected number of experts is made, is right at k = E",
          "[ir][expr][math]") {
  Mathematics f = power();
  CHECK(f(1 - 8.0 / 8, 64) == 0);
  CHECK(f(1 - 8.0 / 256, 1) == 1 - 8.0 / 256);
  CHECK(f(0.96875, 128) == Approx(0.01718302357081790).epsilon(1e-15));  // e(128*l(0.96875)), by bc
}

TEST_CASE("a model with many powers holds their polynomial once", "[ir][expr][math]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  Expr sum = pow(n, n);
  const std::size_t before = pool.size();
  for (int i = 1; i <= 100; ++i) {
    sum = sum + pow(n, pool.constant(i));
  }
  CHECK(pool.size() - before <= 300);
}

}  // namespace
}  // namespace mansard::ir
