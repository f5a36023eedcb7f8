#include "validate/measure/ops_file.hpp"

#include <string>

#include <catch2/catch.hpp>

namespace mansard::measure {
namespace {

TEST_CASE("the members of each op of an ops file are the columns of its row") {
  const std::vector<Row> rows = parse_ops_json(R"({"schema": "mansard.ops/1", "model": {"a": [1]},
    "ops": [{"op": "matmul", "dtype": "bf16", "m": 16, "n": 6144, "k": 4096, "count": 32},
            {"op": "attention", "causal": true, "window": null, "of": {"x": 1}}]})");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].text("op") == "matmul");
  CHECK(rows[0].integer("n") == 6144);
  CHECK(rows[1].integer("causal") == 1);
  CHECK_FALSE(rows[1].has("window"));
  CHECK_FALSE(rows[1].has("of"));
}

TEST_CASE("an empty list of ops is no error, a missing one is") {
  CHECK(parse_ops_json(R"({"ops": []})").empty());
  CHECK_THROWS_WITH(parse_ops_json(R"({"op": []})"), Catch::Contains("\"ops\""));
}

TEST_CASE("text that is no JSON is refused with its line") {
  CHECK_THROWS_WITH(parse_ops_json("{\"ops\": [\n{\"op\" \"matmul\"}]}"),
                    Catch::Contains("line 2") && Catch::Contains("':'"));
  CHECK_THROWS_WITH(parse_ops_json("{\"ops\": [{\"op\": \"matmul\""), Catch::Contains("more text"));
  CHECK_THROWS_AS(parse_ops_json(""), UsageError);
  CHECK_THROWS_AS(parse_ops_json("{\"ops\": [1]}"), UsageError);
  CHECK_THROWS_AS(parse_ops_json("{\"ops\": []} x"), UsageError);
  CHECK_THROWS_AS(parse_ops_json("{\"a\": " + std::string(100000, '[')), UsageError);
}

}  // namespace
}  // namespace mansard::measure
