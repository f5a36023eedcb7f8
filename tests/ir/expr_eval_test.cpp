#include "ir/expr_eval.hpp"

#include <bit>
#include <cmath>

#include <catch2/catch.hpp>

#include "tests/ir/expr_random.hpp"

namespace mansard::ir {
namespace {

Bindings bindings_of(const std::map<std::string, double>& values) {
  Bindings bindings;
  for (const auto& [name, value] : values) {
    bindings.set(name, value);
  }
  return bindings;
}

/// Same bits, but for the sign of a zero.
bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a == 0 && b == 0);
}

std::vector<double> evaluate(std::span<const Expr> roots, const Bindings& bindings) {
  std::vector<double> values(roots.size());
  Evaluator(roots).evaluate(bindings, values);
  return values;
}

TEST_CASE("the tape of a random expression has the bits of a recursive evaluation as written",
          "[ir][expr][property]") {
  test::Random random(20240601);
  for (int round = 0; round < 150; ++round) {
    const test::ValueCase made = test::random_value_case(random);
    ExprPool pool;
    const auto roots = test::Builder(made.program, pool)();
    for (const auto& point : made.points) {
      test::Evaluation<test::DoubleReference> reference(made.program, point);
      const auto values = evaluate(roots, bindings_of(point));
      for (std::size_t i = 0; i < roots.size(); ++i) {
        CAPTURE(round, i, values[i], reference.value_of(i));
        REQUIRE(same(values[i], reference.value_of(i)));
      }
    }
  }
}

TEST_CASE("an evaluator gives the same at a point whatever it evaluated before",
          "[ir][expr][property]") {
  test::Random random(7);
  for (int round = 0; round < 30; ++round) {
    const test::ValueCase made = test::random_value_case(random);
    ExprPool pool;
    const auto roots = test::Builder(made.program, pool)();
    Evaluator evaluator(roots);
    Evaluator copy = evaluator;
    std::vector<double> values(roots.size());
    for (const auto& point : made.points) {
      evaluator.evaluate(bindings_of(point), values);
      CHECK(values == evaluate(roots, bindings_of(point)));
    }
    copy.evaluate(bindings_of(made.points[0]), values);
    CHECK(values == evaluate(roots, bindings_of(made.points[0])));
  }
}

TEST_CASE("values are given in the order of the evaluator's symbols", "[ir][expr]") {
  ExprPool pool;
  const Expr e = pool.symbol("b") / pool.symbol("a");
  Evaluator evaluator({&e, 1});
  REQUIRE(evaluator.symbols().size() == 2);
  CHECK(evaluator.symbols()[0]->symbol == "a");
  const std::vector<double> values{4, 10};
  double result = 0;
  evaluator.evaluate(values, {&result, 1});
  CHECK(result == 2.5);
}

TEST_CASE("a function may be called with its own result", "[ir][expr]") {
  ExprPool pool;
  const Expr x = pool.symbol("f.x");
  const Function& square = pool.define("square", {x}, x * x);
  const Expr n = pool.symbol("n");
  const Expr power = pool.call(square, {pool.call(square, {n}) + pool.call(square, {n + 1})});
  CHECK(value(power, {{"n", 3}}) == 625);
}

TEST_CASE("a function's parameter hides the symbol of its name, in its own body only",
          "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  const Function& outer = pool.define("reads_n", {pool.symbol("unused")}, n + 0.5);
  const Function& hides = pool.define("hides_n", {n}, n * 10 + pool.call(outer, {n}));
  const Expr e = pool.call(hides, {n + 1});
  CHECK(value(e, {{"n", 3}}) == 43.5);
  CHECK(symbols_of(e) == std::vector{n});
}

TEST_CASE("the best of a table's rows is the first of least key, and its payload", "[ir][expr]") {
  ExprPool pool;
  const Table& tiles = pool.add_table("tiles", {"m", "n"}, {64, 64, 128, 64, 64, 128, 256, 128});
  const Expr m = pool.symbol("tile.m");
  const Expr n = pool.symbol("tile.n");
  const Expr size = pool.symbol("tile.size");
  const Function& waste = pool.define("waste", {m, n, size}, ceil_div(size, m) * m - size);
  const Function& area = pool.define("area", {m, n, size}, m * n);
  const Expr rows = pool.symbol("rows");
  const auto reduce = [&](Reduction r) {
    return value(pool.reduce(r, tiles, waste, {rows}, r == Reduction::kAtMin ? &area : nullptr),
                 {{"rows", 100}});
  };
  CHECK(reduce(Reduction::kMin) == 28);
  CHECK(reduce(Reduction::kMax) == 156);
  CHECK(reduce(Reduction::kSum) == 28 + 28 + 28 + 156);
  CHECK(reduce(Reduction::kAtMin) == 64 * 64);
}

TEST_CASE("a chain of 100,000 operations neither overflows the stack nor takes long",
          "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  Expr sum = n;
  Expr nested = n;
  for (int i = 1; i <= 100'000; ++i) {
    sum = sum + n / i;
    nested = n + max(nested, i);
  }
  ExprPool other;
  const Expr copy = import(sum, other);
  CHECK(value(copy, {{"n", 2}}) == value(sum, {{"n", 2}}));
  CHECK(value(nested, {{"n", 2}}) == 200'002);
  CHECK(symbols_of(nested).size() == 1);
}

TEST_CASE("scale2 and exponent2 hold at the ends of their ranges", "[ir][expr]") {
  ExprPool pool;
  const Expr x = pool.symbol("x");
  const Expr n = pool.symbol("n");
  const auto scaled = [&](double a, double b) { return value(scale2(x, n), {{"x", a}, {"n", b}}); };
  CHECK(scaled(1, 1023) == 0x1p1023);
  CHECK(scaled(1, -1074) == 0x1p-1074);
  CHECK(scaled(0x1p-1074, 1100) == 0x1p26);
  CHECK(scaled(-3, -1) == -1.5);
  CHECK(scaled(1, 1024) == INFINITY);
  CHECK(scaled(1, -1e300) == 0);
  CHECK(std::isnan(scaled(NAN, NAN)));
  const auto exponent = [&](double a) { return value(exponent2(x), {{"x", a}}); };
  CHECK(exponent(1) == 0);
  CHECK(exponent(std::nextafter(1, 0)) == -1);
  CHECK(exponent(0x1p-1022) == -1022);
  CHECK(exponent(1.7e308) == 1023);
}

}  // namespace
}  // namespace mansard::ir
