#include "ir/derivative.hpp"

#include <cmath>

#include <catch2/catch.hpp>

#include "ir/expr_eval.hpp"
#include "ir/expr_text.hpp"
#include "tests/ir/expr_random.hpp"

namespace mansard::ir {
namespace {

std::vector<double> evaluate(std::span<const Expr> roots, std::map<std::string, double> point,
                             const std::string& symbol, double change) {
  point[symbol] += change;
  Bindings bindings;
  for (const auto& [name, bound] : point) {
    bindings.set(name, bound);
  }
  std::vector<double> values(roots.size());
  Evaluator(roots).evaluate(bindings, values);
  return values;
}

TEST_CASE("the derivative of a random expression is its central difference where no choice is near",
          "[ir][derivative][property]") {
  const std::vector<ExprKind> smooth{
      ExprKind::kAdd, ExprKind::kSub,  ExprKind::kMul,    ExprKind::kDiv,  ExprKind::kMin,
      ExprKind::kMax, ExprKind::kLess, ExprKind::kSelect, ExprKind::kCall, ExprKind::kReduce};
  test::Random random(17);
  int compared = 0;
  for (int round = 0; round < 120; ++round) {
    const test::Environments<test::DoubleReference> points{
        {{"s0", 1.25 + static_cast<double>(test::below(random, 1000)) / 777},
         {"s1", 3.7},
         {"s2", 0.31},
         {"s3", -2.2}}};
    const auto program =
        test::random_program<test::DoubleReference>(random, {{}, {1, 2, 0.7}, smooth, 25}, points);
    ExprPool pool;
    const Expr s0 = pool.symbol("s0");
    for (const Expr e : test::Builder(program, pool)()) {
      std::vector<Expr> roots = choices_of(e, s0);
      const std::size_t choices = roots.size();
      roots.push_back(e);
      roots.push_back(derivative(e, s0));
      const double step = 1e-5;
      const auto low = evaluate(roots, points[0], "s0", -step);
      const auto at = evaluate(roots, points[0], "s0", 0);
      const auto high = evaluate(roots, points[0], "s0", step);
      const double slope = (high[choices] - low[choices]) / (2 * step);
      const double curvature =
          std::abs(high[choices] - 2 * at[choices] + low[choices]) / (step * step);
      const double scale = std::abs(at[choices]) + std::abs(slope) + curvature;
      if (!std::equal(low.begin(), low.begin() + static_cast<std::ptrdiff_t>(choices),
                      high.begin()) ||
          scale > 1e6) {
        continue;
      }
      ++compared;
      CAPTURE(print(e), print(roots.back()), slope, at.back());
      REQUIRE(std::abs(at.back() - slope) <= 1e-6 * std::max(1.0, scale));
    }
  }
  CHECK(compared > 1500);
}

/// Derivative by x at a point, and the central difference there.
void check_slope(Expr e, Expr x, double at) {
  const Expr d = derivative(e, x);
  const double step = 1e-6 * std::abs(at);
  const double slope =
      (value(e, {{x->symbol, at + step}}) - value(e, {{x->symbol, at - step}})) / (2 * step);
  CAPTURE(print(e), print(d), at);
  CHECK(value(d, {{x->symbol, at}}) == Approx(slope).epsilon(1e-6));
}

TEST_CASE("exp2, log2 and pow have their textbook derivatives", "[ir][derivative]") {
  ExprPool pool;
  const Expr x = pool.symbol("x");
  for (const double at : {0.3, 1.7, 40.0}) {
    check_slope(exp2(x / 3), x, at);
    check_slope(log2(x * x + 1), x, at);
    check_slope(pow(x, pool.constant(2.5)), x, at);
    check_slope(pow(pool.constant(0.97), x), x, at);
    check_slope(pow(x, 1 / x), x, at);
  }
  CHECK(value(derivative(pow(x - x, x), x), {{"x", 2}}) == 0);
}

TEST_CASE("the derivative of a table's reduction is that of the row chosen", "[ir][derivative]") {
  ExprPool pool;
  const Table& tiles = pool.add_table("tiles", {"a", "b"}, {1, 10, 2, 5, 4, 1});
  const Expr a = pool.symbol("k.a");
  const Expr b = pool.symbol("k.b");
  const Expr x = pool.symbol("k.x");
  const Function& key = pool.define("key", {a, b, x}, a * x * x + b);
  const Function& payload = pool.define("payload", {a, b, x}, a * x);
  const Expr s = pool.symbol("s");
  for (const double at : {0.5, 1.3, 2.2, 7.0}) {
    check_slope(pool.reduce(Reduction::kMin, tiles, key, {s + 1}), s, at);
    check_slope(pool.reduce(Reduction::kMax, tiles, key, {s * 2}), s, at);
    check_slope(pool.reduce(Reduction::kSum, tiles, key, {s * s}), s, at);
    check_slope(pool.reduce(Reduction::kAtMin, tiles, key, {s}, &payload), s, at);
  }
}

TEST_CASE("at a kink the derivative is that of the branch taken", "[ir][derivative]") {
  ExprPool pool;
  const Expr x = pool.symbol("x");
  const Expr roofline = max(3 * x, 12 / x);
  CHECK(value(derivative(roofline, x), {{"x", 1.9}}) == Approx(-12 / (1.9 * 1.9)));
  CHECK(value(derivative(roofline, x), {{"x", 2}}) == 3);
  CHECK(value(derivative(roofline, x), {{"x", 2.1}}) == 3);
}

TEST_CASE("a derivative's dimension is the expression's over the symbol's", "[ir][derivative]") {
  ExprPool pool;
  const Expr bandwidth = pool.symbol("hbm.bandwidth", kBytePerSecond);
  const Expr time = pool.constant(16e9, kByte) / bandwidth;
  CHECK(derivative(time, bandwidth).dimension() == kSecond - kBytePerSecond);
  CHECK(derivative(bandwidth, bandwidth) == pool.constant(1));
  const Expr unrelated = derivative(time, pool.symbol("price"));
  CHECK(unrelated == pool.constant(0, kSecond));
  CHECK(derivative(floor(bandwidth), bandwidth) == pool.constant(0));
}

TEST_CASE("kinks are the differences that change sign, each once, inside functions too",
          "[ir][derivative]") {
  ExprPool pool;
  const Expr x = pool.symbol("x");
  const Expr y = pool.symbol("y");
  const Expr p = pool.symbol("f.p");
  const Function& f = pool.define("f", {p}, min(p * 2, 7 + p));
  const Expr e =
      max(x, y) + max(x, y) * pool.call(f, {x + 1}) + max(y, 4) + select(less(x, 9), x, y);
  std::vector<std::string> texts;
  for (const Expr kink : kinks_of(e, x)) {
    texts.push_back(print(kink));
  }
  CHECK(texts == std::vector<std::string>{"x - 9", "x - y", "2 * (x + 1) - (x + 1 + 7)"});
}

TEST_CASE("the choice of a table is the row that it takes", "[ir][derivative]") {
  ExprPool pool;
  const Table& tiles = pool.add_table("tiles", {"a", "b"}, {1, 10, 2, 5, 4, 1});
  const Expr a = pool.symbol("k.a");
  const Expr b = pool.symbol("k.b");
  const Expr x = pool.symbol("k.x");
  const Function& key = pool.define("key", {a, b, x}, a * x + b);
  const Expr s = pool.symbol("s");
  const auto rows = [&](Reduction reduction, double at) {
    const auto choices = choices_of(pool.reduce(reduction, tiles, key, {s}), s);
    REQUIRE(choices.size() == 1);
    return value(choices[0], {{"s", at}});
  };
  CHECK(rows(Reduction::kMin, 1) == 2);
  CHECK(rows(Reduction::kMin, 3) == 1);
  CHECK(rows(Reduction::kMin, 6) == 0);
  CHECK(rows(Reduction::kMax, 1) == 0);
  CHECK(rows(Reduction::kMax, 6) == 2);
}

TEST_CASE("a chain of 60,000 operations has a derivative", "[ir][derivative]") {
  ExprPool pool;
  const Expr x = pool.symbol("x");
  Expr sum = x;
  for (int i = 1; i <= 20'000; ++i) {
    sum = 1 + sum * x / (i + x);
  }
  CHECK(std::isfinite(value(derivative(sum, x), {{"x", 2}})));
}

}  // namespace
}  // namespace mansard::ir
