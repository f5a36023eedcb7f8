#include "ir/expr_text.hpp"

#include <catch2/catch.hpp>

#include "tests/ir/expr_random.hpp"

namespace mansard::ir {
namespace {

std::string failure_of(std::string_view text, ExprPool& pool) {
  const auto file = std::make_shared<SourceFile>(SourceFile{"--where", std::string(text)});
  const auto parsed = parse_expr(file->text, pool, {file, 0, file->text.size()});
  return parsed ? "parsed as " + print(*parsed) : render(parsed.error());
}
std::string failure_of(std::string_view text) {
  ExprPool pool;
  return failure_of(text, pool);
}

std::string reprinted(std::string_view text) {
  ExprPool pool;
  const auto parsed = parse_expr(text, pool);
  return parsed ? print(*parsed) : parsed.error().at(0).message;
}

TEST_CASE("what is printed reads back as the same expression", "[ir][expr][property]") {
  test::Random random(3);
  for (int round = 0; round < 150; ++round) {
    const test::ValueCase made = test::random_value_case(random, 25);
    ExprPool pool;
    for (const Expr e : test::Builder(made.program, pool)()) {
      CAPTURE(print(e));
      const auto parsed = parse_expr(print(e), pool);
      REQUIRE(parsed);
      REQUIRE(*parsed == e);
    }
  }
}

TEST_CASE("numbers, units and mathematics read back too", "[ir][expr]") {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  const Expr time = pool.symbol("launch", kSecond);
  const std::vector<Expr> expressions{
      pool.constant(35e-6, kSecond) + time * n,
      pool.constant(0.1 + 0.2) * n,
      pool.constant(-4.8e12, kBytePerSecond) * time,
      n * pool.unit(kFlop) / pool.constant(989.4e12, kFlopPerSecond),
      pow(n, exp2(n) - log2(n)) - n * -3,
      pool.constant(1.0 / 3, kByte - kFlop),
      scale2(n, floor(n)) + exponent2(n),
  };
  for (const Expr e : expressions) {
    CAPTURE(print(e));
    CHECK(parse_expr(print(e), pool).value() == e);
  }
}

TEST_CASE("an expression prints with as few parentheses as precedence allows", "[ir][expr]") {
  ExprPool pool;
  const Expr batch = pool.symbol("batch");
  const Expr context = pool.symbol("context");
  CHECK(print(2 * batch * (context + 1)) == "2 * batch * (context + 1)");
  CHECK(print(batch - (context - 1)) == "batch - (context - 1)");
  CHECK(print(batch / (context / 2) * batch) == "batch / (context / 2) * batch");
  CHECK(print(batch - -2 * context) == "batch - (-2) * context");
  CHECK(print(ceil_div(batch * 2, 3) + max(batch, context)) ==
        "ceil_div(2 * batch, 3) + max(batch, context)");
  CHECK(print(pool.constant(35e-6, kSecond) * batch) == "35 [us] * batch");
  CHECK(print_with_values(2 * batch * (context + 1), {{"batch", 16}, {"context", -4}}) ==
        "2 * 16 * (-4 + 1)");
}

TEST_CASE("text is read with the usual precedence, spaces or none", "[ir][expr]") {
  CHECK(reprinted(" a+b*c-d/e ") == "a + b * c - d / e");
  CHECK(reprinted("(a+b)*(c)") == "(a + b) * c");
  CHECK(reprinted("a//b") == "floor_div(a, b)");
  CHECK(reprinted("-a + -2") == "-1 * a + (-2)");
  CHECK(reprinted("2*-3") == "-6");
  CHECK(reprinted("1.5e3*x.y_1") == "1500 * x.y_1");
  CHECK(reprinted("min(a, 1)") == "min(a, 1)");
}

TEST_CASE("an error in an expression points at its place", "[ir][expr]") {
  CHECK(failure_of("2 * flor(batch)") ==
        "--where:1:5: error: unknown function 'flor' [expr-function]\n"
        "  1 | 2 * flor(batch)\n"
        "    |     ^^^^ did you mean floor?\n");
  CHECK(failure_of("batch + 3 [us]") ==
        "--where:1:7: error: cannot add a plain number and a time [expr-dimension]\n"
        "  1 | batch + 3 [us]\n"
        "    |       ^\n");
}

TEST_CASE("every kind of mistake in an expression has its message", "[ir][expr]") {
  const auto message = [](std::string_view text) { return reprinted(text); };
  CHECK(message("") == "expected an expression, found the end");
  CHECK(message("a +") == "expected an expression, found the end");
  CHECK(message("(a") == "expected ')', found the end");
  CHECK(message("a b") == "expected an operator, found 'b'");
  CHECK(message("a \x01") == "expected an operator, found byte 0x01");
  CHECK(message("min(a)") == "min takes 2 arguments, found 1");
  CHECK(message("floor()") == "floor takes 1 argument, found 0");
  CHECK(message("exp2(3 [s])") == "expected a plain number, found a time");
  CHECK(message("1e999") == "a number out of the range of doubles");
  CHECK(message("3 [") == "expected ']' after the unit");
  CHECK(message("min_over(tiles, waste)") == "unknown table 'tiles'");
  CHECK(message("select(1 [s], a, b)") == "a condition must be a plain number, not a time");
  CHECK(message(std::string(100'000, '(')) == "nested more than 200 deep");
  CHECK(message(std::string(100'000, '-')) == "nested more than 200 deep");
}

TEST_CASE("a call by name takes the function's parameters", "[ir][expr]") {
  ExprPool pool;
  const Expr t = pool.symbol("t", kSecond);
  pool.define("twice", {t}, t * 2);
  CHECK(print(parse_expr("twice(3 [us]) + t", pool).value()) == "twice(3 [us]) + t");
  CHECK(failure_of("twice(3)", pool)
            .starts_with("--where:1:1: error: expected a time, found a plain number"));
}

TEST_CASE("a long chain prints and reads back; a doubling one is cut", "[ir][expr]") {
  ExprPool pool;
  Expr sum = pool.symbol("n");
  Expr nested = sum;
  Expr doubled = sum;
  for (int i = 1; i <= 100'000; ++i) {
    sum = sum + i;
    nested = 1 / (nested + 1);
  }
  for (int i = 0; i < 100; ++i) {
    doubled = doubled * doubled;
  }
  CHECK(parse_expr(print(sum), pool).value() == sum);
  CHECK(print(nested).size() > 600'000);
  CHECK(print(doubled).find("...") != std::string::npos);
  CHECK(excerpt(doubled, 20).size() == 20);
}

}  // namespace
}  // namespace mansard::ir
