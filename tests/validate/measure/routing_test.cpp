#include "validate/measure/routing.hpp"

#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

namespace mansard::measure {
namespace {

TEST_CASE("uniform routing gives every expert the same rows when they divide") {
  const auto rows = rows_of_experts(8, 32, 2, Spread::kUniform);
  CHECK(rows == std::vector<std::int64_t>(8, 8));
}

TEST_CASE("one token touches top_k experts, however the router favours one") {
  for (const Spread spread : {Spread::kUniform, Spread::kZipf}) {
    const auto rows = rows_of_experts(128, 1, 8, spread);
    CHECK(std::ranges::count(rows, 1) == 8);
    CHECK(std::ranges::count(rows, 0) == 120);
  }
}

TEST_CASE("every routed row goes somewhere, and none twice to one expert") {
  for (const std::int64_t tokens : {1, 7, 100, 4096}) {
    const auto rows = rows_of_experts(128, tokens, 8, Spread::kZipf);
    CHECK(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) == 8 * tokens);
    CHECK(std::ranges::max(rows) <= tokens);
    CHECK(std::ranges::is_sorted(rows, std::ranges::greater()));
  }
}

}  // namespace
}  // namespace mansard::measure
