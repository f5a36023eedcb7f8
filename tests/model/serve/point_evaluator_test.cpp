#include "model/serve/point_evaluator.hpp"

#include <array>
#include <bit>
#include <cstdint>

#include <catch2/catch.hpp>

namespace mansard::model::serve {
namespace {

TEST_CASE("nobody can tell when an expression that is asked for often was compiled", "[serve]") {
  ir::ExprPool pool;
  const ir::Expr x = pool.symbol("x");
  const ir::Expr y = pool.symbol("y");
  const ir::Expr scale = pool.symbol("scale");
  const std::vector<ir::Expr> roots{ir::max(x * scale, y / scale) + x / y, x * y};
  PointEvaluator evaluator(roots, {"x", "y"}, {{"scale", 0.3}, {"unused", 1}});
  REQUIRE(evaluator.symbols().size() == 2);
  const bool x_first = evaluator.symbols().front() == "x";
  for (int i = 1; i < 1000; ++i) {
    const double a = 0.1 * i;
    const double b = 7.0 / i;
    std::array<double, 2> out{};
    evaluator.evaluate(x_first ? std::array{a, b} : std::array{b, a}, out);
    for (std::size_t k = 0; k < roots.size(); ++k) {
      const double expected = ir::value(roots[k], {{"x", a}, {"y", b}, {"scale", 0.3}});
      CHECK(std::bit_cast<std::uint64_t>(out[k]) == std::bit_cast<std::uint64_t>(expected));
    }
  }
}

}  // namespace
}  // namespace mansard::model::serve
