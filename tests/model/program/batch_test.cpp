#include "model/program/batch.hpp"

#include <bit>

#include <catch2/catch.hpp>

#include "tests/ir/expr_random.hpp"

namespace mansard::model {
namespace {

using ir::Expr;

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// Symbols of a random expression dealt to the three levels, another way each round.
Program::Symbols dealt(std::size_t round) {
  Program::Symbols symbols;
  for (const std::string& name : ir::test::kSymbols) {
    switch (round % 3) {
      case 0:
        symbols.point.push_back(name);
        break;
      case 1:
        symbols.row.push_back(name);
        break;
      default:
        break;
    }
    round /= 3;
  }
  return symbols;
}

using Point = std::map<std::string, double>;

/// The values of all roots at `count` points that differ in their point symbols only.
std::vector<std::vector<double>> evaluate(const BatchFunction& function,
                                          const Program::Symbols& symbols,
                                          std::span<const Point> points) {
  std::vector<double> row;
  for (const std::string& name : symbols.row) {
    row.push_back(points[0].at(name));
  }
  std::vector<std::vector<double>> columns;
  std::vector<const double*> inputs;
  for (const std::string& name : symbols.point) {
    std::vector<double> column;
    for (const Point& point : points) {
      column.push_back(point.at(name));
    }
    columns.push_back(std::move(column));
    inputs.push_back(columns.back().data());
  }
  std::vector<std::vector<double>> results(function.program().roots.size(),
                                           std::vector<double>(points.size()));
  std::vector<double*> outputs;
  for (std::vector<double>& result : results) {
    outputs.push_back(result.data());
  }
  BatchFunction::Evaluator evaluator(function);
  evaluator.set_row(row);
  evaluator.evaluate(inputs, points.size(), outputs);
  return results;
}

/// `base` with its point symbols taken from each of `others` in turn.
std::vector<Point> points_along(const Point& base, const Program::Symbols& symbols,
                                std::span<const Point> others, std::size_t count) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    Point point = base;
    for (const std::string& name : symbols.point) {
      point[name] = others[i % others.size()].at(name);
    }
    points.push_back(point);
  }
  return points;
}

void check_round(std::size_t round, ir::test::Random& random, bool interpret) {
  const ir::test::ValueCase made = ir::test::random_value_case(random);
  ir::ExprPool pool;
  const auto roots = ir::test::Builder(made.program, pool)();
  const Program::Symbols symbols = dealt(round);
  const std::vector<Point> others(made.points.begin(), made.points.end());
  for (const Point& base : others) {
    ir::Bindings fixed;
    for (const auto& [name, value] : base) {
      fixed.set(name, value);
    }
    const auto function =
        BatchFunction::make(roots, symbols, fixed, {.interpret = interpret, .cache = false});
    REQUIRE(function);
    REQUIRE(function->compiled() != interpret);
    const auto points = points_along(base, symbols, others, 21);
    const auto results = evaluate(*function, symbols, points);
    ir::Evaluator reference(roots);
    std::vector<double> expected(roots.size());
    for (std::size_t j = 0; j < points.size(); ++j) {
      ir::Bindings bindings;
      for (const auto& [name, value] : points[j]) {
        bindings.set(name, value);
      }
      reference.evaluate(bindings, expected);
      for (std::size_t k = 0; k < roots.size(); ++k) {
        CAPTURE(round, j, k, results[k][j], expected[k]);
        REQUIRE(same(results[k][j], expected[k]));
      }
    }
  }
}

TEST_CASE("a program that is interpreted has the bits of the interpreter of expressions",
          "[model][program][property]") {
  ir::test::Random random(11);
  for (std::size_t round = 0; round < 81; ++round) {
    check_round(round, random, true);
  }
}

TEST_CASE("a compiled program has the bits of the interpreter of expressions",
          "[model][program][property]") {
  ir::test::Random random(12);
  for (std::size_t round = 0; round < 81; ++round) {
    check_round(round, random, false);
  }
}

}  // namespace
}  // namespace mansard::model
