#include "validate/measure/shapes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>

namespace mansard::measure {
namespace {

TEST_CASE("the built-in ops are the same on every call, and none comes twice") {
  const std::vector<Row> rows = default_ops();
  const std::vector<Row> again = default_ops();
  std::set<std::string> seen;
  REQUIRE(rows.size() == again.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].describe() == again[i].describe());
    seen.insert(rows[i].describe());
  }
  CHECK(seen.size() == rows.size());
}

TEST_CASE("a tenth of the built-in ops holds some of every kind") {
  const std::vector<Row> rows = default_ops();
  std::set<std::string> kinds;
  std::set<std::string> early;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    kinds.emplace(rows[i].text("op"));
    if (i < rows.size() / 10) {
      early.emplace(rows[i].text("op"));
    }
  }
  CHECK(early == kinds);
}

TEST_CASE("some arbitrary matmuls have dimensions that are no multiple of 8") {
  const std::vector<Row> rows = default_ops();
  CHECK(std::ranges::any_of(rows, [](const Row& row) {
    return row.text("model") == "unaligned" && row.integer("k") % 8 != 0;
  }));
}

TEST_CASE("the first linear layer of llama3-8b makes queries, keys and values of 4096 hidden") {
  const std::vector<Row> rows = default_ops();
  CHECK(std::ranges::any_of(rows, [](const Row& row) {
    return row.text("model") == "llama3-8b" && row.text("op") == "matmul" &&
           row.integer("n") == 6144 && row.integer("k") == 4096;
  }));
}

}  // namespace
}  // namespace mansard::measure
