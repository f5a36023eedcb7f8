#include "ir/expr.hpp"

#include <bit>

#include <catch2/catch.hpp>

#include "ir/expr_eval.hpp"
#include "ir/expr_rules.hpp"
#include "ir/expr_text.hpp"
#include "ir/typed.hpp"
#include "tests/ir/expr_random.hpp"

namespace mansard::ir {
namespace {

TEST_CASE("equal expressions are one node, whichever operand of a sum or product came first",
          "[ir][expr]") {
  ExprPool pool;
  const Expr a = pool.symbol("a");
  const Expr b = pool.symbol("b");
  const Expr product = a * b;
  CHECK(b * a == product);
  CHECK(1 + b * a == product + 1);
  CHECK(min(a, b) == min(b, a));
  CHECK(a - b != b - a);
  CHECK(pool.constant(1) != pool.unit(kSecond));
  const std::size_t before = pool.size();
  CHECK(print(b * a) == "a * b");
  CHECK(pool.size() == before);
}

TEST_CASE("building simplifies what needs no computing", "[ir][expr]") {
  ExprPool pool;
  const Expr x = pool.symbol("x");
  CHECK(x + 0 == x);
  CHECK(x - 0 == x);
  CHECK(x * 1 == x);
  CHECK(x / 1 == x);
  CHECK(x * 0 == pool.constant(0));
  CHECK(x - x == pool.constant(0));
  CHECK(min(x, x) == x);
  CHECK(max(x, x) == x);
  CHECK(less(x, x) == pool.constant(0));
  CHECK(select(pool.constant(1), x, x + 1) == x);
  CHECK(select(pool.constant(0), x, x + 1) == x + 1);
  CHECK(select(x, x + 1, x + 1) == x + 1);
  CHECK(scale2(x, pool.constant(0)) == x);
  CHECK(floor_div(x, 1) == floor(x));
  CHECK(floor(ceil_div(x, 3)) == ceil_div(x, 3));
  CHECK(pool.constant(2) * 3 + 4 == pool.constant(10));
  CHECK(ceil_div(pool.constant(7), 2) == pool.constant(4));
}

TEST_CASE("constants fold only where the result is exact", "[ir][expr]") {
  ExprPool pool;
  const Expr third = pool.constant(1) / 3;
  CHECK_FALSE(third.is_constant());
  CHECK(value(third, {}) == 1.0 / 3);
  CHECK_FALSE((pool.constant(0x1p53) + 1).is_constant());
  CHECK_FALSE((pool.constant(0.1) + 0.2).is_constant());
  CHECK_FALSE((pool.constant(1) / 0).is_constant());
  CHECK_FALSE((pool.constant(0x1p1000) * 0x1p1000).is_constant());
  CHECK((pool.constant(6) / 4).is_constant());
}

TEST_CASE("a unit joins the constant of a product", "[ir][expr]") {
  ExprPool pool;
  const Expr m = pool.symbol("m");
  CHECK(print(2 * m * pool.unit(kFlop)) == "2 [FLOP] * m");
  CHECK(print(m * pool.unit(kFlop)) == "1 [FLOP] * m");
  CHECK((3 / m * pool.unit(kByte)).dimension() == kByte);
  CHECK((m * pool.unit(kByte)) / pool.unit(kByte) == m);
}

TEST_CASE("unlike dimensions do not add, compare or count as numbers", "[ir][expr]") {
  ExprPool pool;
  const Expr t = pool.symbol("t", kSecond);
  const Expr bytes = pool.symbol("bytes", kByte);
  const auto why = [](ExprKind kind, std::vector<Expr> operands) {
    return misuse(kind, operands).value_or("");
  };
  CHECK(why(ExprKind::kAdd, {t, bytes}) == "cannot add a time and an amount of data");
  CHECK(why(ExprKind::kMax, {t, bytes}) == "cannot compare a time and an amount of data");
  CHECK(why(ExprKind::kScale2, {t, t}) == "an exponent must be a plain number, not a time");
  CHECK(why(ExprKind::kMul, {t, bytes}).empty());
  CHECK((bytes / t).dimension() == kBytePerSecond);
  CHECK((t + 1).dimension() == kSecond);
  CHECK(ceil_div(bytes, bytes + 1).dimension() == kNumber);
}

static_assert(std::same_as<decltype(Typed<Bytes>() / Typed<BytesPerSecond>()), Typed<Seconds>>);
template <typename A, typename B>
concept Addable = requires(A a, B b) { a + b; };
static_assert(!Addable<Typed<Bytes>, Typed<Flops>>);

/// The program with symbol s1 replaced by s0 + 0.5 as it would be written without `substitute`.
std::map<std::string, double> replaced(std::map<std::string, double> point) {
  point["s1"] = point["s0"] + 0.5;
  return point;
}

Bindings bindings_of(const std::map<std::string, double>& values) {
  Bindings bindings;
  for (const auto& [name, bound] : values) {
    bindings.set(name, bound);
  }
  return bindings;
}

TEST_CASE("an expression copied to another pool and back is the same expression",
          "[ir][expr][property]") {
  test::Random random(5);
  for (int round = 0; round < 100; ++round) {
    const test::ValueCase made = test::random_value_case(random);
    ExprPool pool;
    ExprPool other;
    for (const Expr e : test::Builder(made.program, pool)()) {
      const Expr copy = import(e, other);
      REQUIRE(&copy.pool() == &other);
      REQUIRE(import(copy, pool) == e);
      REQUIRE(import(e, pool) == e);
    }
  }
}

TEST_CASE("replacing a symbol by an expression is binding it to the expression's value",
          "[ir][expr][property]") {
  test::Random random(6);
  for (int round = 0; round < 40; ++round) {
    const test::ValueCase made = test::random_value_case(random);
    ExprPool pool;
    ExprPool other;
    const Expr s0 = other.symbol("s0");
    for (const Expr e : test::Builder(made.program, pool)()) {
      const Expr copy = substitute(e, other, [&](const ExprNode& symbol) {
        return symbol.symbol == "s1" ? s0 + 0.5 : Expr();
      });
      for (const auto& point : made.points) {
        const double expected = value(e, bindings_of(replaced(point)));
        const double found = value(copy, bindings_of(point));
        CAPTURE(print(e), expected, found);
        REQUIRE((found == expected || !std::isfinite(expected)));
      }
    }
  }
}

TEST_CASE("a symbol is replaced inside functions too, and parameters capture nothing",
          "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  const Expr p = pool.symbol("p");
  const Function& f = pool.define("f", {p}, p * 10 + n);
  const Function& g =
      pool.define("g", {n}, pool.call(f, {n * 100}));  // Its own n, and the outer one in f.
  const Expr e = pool.call(g, {n + 1});
  const Expr replaced = substitute(
      e, pool, [&](const ExprNode& symbol) { return symbol.symbol == "n" ? p + 0.5 : Expr(); });
  CHECK(value(e, {{"n", 2}}) == 3 * 100 * 10 + 2);
  CHECK(value(replaced, {{"p", 2}}) == 3.5 * 100 * 10 + 2.5);
  CHECK(symbols_of(replaced) == std::vector{p});
}

TEST_CASE("symbols come sorted by name, those that functions read among them", "[ir][expr]") {
  ExprPool pool;
  const Expr z = pool.symbol("z");
  const Expr x = pool.symbol("f.x");
  const Expr a = pool.symbol("a");
  const Function& f = pool.define("f", {x}, x + a);
  CHECK(symbols_of(z + pool.call(f, {z})) == std::vector{a, z});
}

}  // namespace
}  // namespace mansard::ir
