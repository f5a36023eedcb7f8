#include <catch2/catch.hpp>

#include "ir/expr_eval.hpp"
#include "tests/ir/expr_random.hpp"

namespace mansard::ir {
namespace {

std::string counted(Expr e, const Bindings& bindings = {}) {
  const auto result = count(e, bindings);
  return result ? to_string(*result) : result.error().at(0).id;
}

std::string error_of(Expr e, const Bindings& bindings = {}) {
  return count(e, bindings).error().at(0).message;
}

TEST_CASE("the count of a random expression is that of 128-bit integers", "[ir][expr][property]") {
  const std::vector<ExprKind> kinds{ExprKind::kAdd,    ExprKind::kSub,      ExprKind::kMul,
                                    ExprKind::kDiv,    ExprKind::kFloorDiv, ExprKind::kCeilDiv,
                                    ExprKind::kMod,    ExprKind::kMin,      ExprKind::kMax,
                                    ExprKind::kFloor,  ExprKind::kLess,     ExprKind::kSelect,
                                    ExprKind::kScale2, ExprKind::kCall,     ExprKind::kReduce};
  test::Random random(11);
  for (int round = 0; round < 150; ++round) {
    const Bindings bindings{{"s0", 3},
                            {"s1", static_cast<double>(test::below(random, 1U << 20U))},
                            {"s2", -7},
                            {"s3", 0x1p60}};
    test::Environments<test::IntegerReference> points(1);
    for (const auto& [name, bound] : bindings.all()) {
      points[0][name] = static_cast<__int128>(bound);
    }
    const auto program = test::random_program<test::IntegerReference>(
        random, {{}, {0, 1, 2, 3, -5, 128}, kinds, 60}, points);
    ExprPool pool;
    const auto roots = test::Builder(program, pool)();
    test::Evaluation<test::IntegerReference> reference(program, points[0]);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      CAPTURE(round, i);
      REQUIRE(counted(roots[i], bindings) == to_string(reference.value_of(i)));
    }
  }
}

TEST_CASE("a count has more digits than a double", "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  const Bindings bindings{{"n", 0x1p53}};
  CHECK(counted(n + 1, bindings) == "9007199254740993");
  CHECK(counted(pool.constant(0x1p53) + 1) == "9007199254740993");
  CHECK(counted((n + 1) * (n - 1), bindings) == "81129638414606681695789005144063");  // 2^106 - 1
}

TEST_CASE("the ends of 128 bits are counted and the next number is an overflow", "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  const Bindings bindings{{"n", 0x1p63}};
  const Expr half = n * n;  // 2^126
  CHECK(counted(half + (half - 1), bindings) == "170141183460469231731687303715884105727");
  CHECK(counted(half + half, bindings) == "count-overflow");
  CHECK(counted(0 - half - half, bindings) == "-170141183460469231731687303715884105728");
  CHECK(counted(0 - half - half - 1, bindings) == "count-overflow");
  CHECK(counted(half * half / half / half, bindings) == "count-overflow");
  CHECK(counted(pool.constant(1e300)) == "count-overflow");
}

TEST_CASE("integer divisions round as their names say, of negatives too", "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  const Bindings bindings{{"n", -7}};
  CHECK(counted(floor_div(n, 2), bindings) == "-4");
  CHECK(counted(ceil_div(n, 2), bindings) == "-3");
  CHECK(counted(mod(n, 2), bindings) == "1");
  CHECK(counted(floor_div(n, -2), bindings) == "3");
  CHECK(counted(mod(n, -2), bindings) == "-1");
  CHECK(counted(floor(n * 0.5), bindings) == "-4");
}

TEST_CASE("half bytes count exactly as long as they come out whole", "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  CHECK(counted(n * 0.53125, {{"n", 64}}) == "34");  // mxfp4: 4.25 bits an element
  CHECK(counted(n * 0.5 + n * 0.5, {{"n", 3}}) == "3");
  CHECK(counted(n * 0.5, {{"n", 3}}) == "count-fraction");
  CHECK(counted(n * 0.1, {{"n", 10}}) == "count-fraction");
}

TEST_CASE("what has no exact count says why", "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  CHECK(error_of(n / 2, {{"n", 3}}) == "a quotient that is not whole: n / 2");
  CHECK(error_of(1 / (n - 3), {{"n", 3}}) == "division by zero: 1 / (n - 3)");
  CHECK(error_of(n, {{"n", 1.5}}) == "a symbol that is bound to a fraction: n");
  CHECK(error_of(exp2(n), {{"n", 3}}) == "exp2 has no exact count");
  CHECK(error_of(n * n * n, {{"n", 0x1p60}}) == "the exact count is past 128 bits: n * n * n");
}

TEST_CASE("an error in a branch that is not taken, or times zero, is none", "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  CHECK(counted(select(less(n, 1), pool.constant(5), 12 / n), {{"n", 0}}) == "5");
  CHECK(counted(select(less(n, 1), pool.constant(5), 12 / n), {{"n", 3}}) == "4");
  CHECK(counted(n * (1 / n), {{"n", 0}}) == "0");
}

}  // namespace
}  // namespace mansard::ir
