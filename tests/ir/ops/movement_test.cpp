#include <catch2/catch.hpp>

#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {

TEST_CASE("collectives send the least that each device must", "[ir][ops]") {
  const DimValues dims = {{"n", 1000}, {"p", 8}};
  CHECK(count_of("all_reduce", &OpDef::link_elements, dims) == "1750");  // 2 * 7/8
  CHECK(count_of("all_gather", &OpDef::link_elements, dims) == "875");   // 7/8
  CHECK(count_of("reduce_scatter", &OpDef::link_elements, dims) == "875");
  CHECK(count_of("all_to_all", &OpDef::link_elements, dims) == "875");
  CHECK(count_of("send_recv", &OpDef::link_elements, {{"n", 1000}}) == "1000");
}

TEST_CASE("an all-reduce is a reduce-scatter and an all-gather", "[ir][ops]") {
  for (const double devices : {2.0, 3.0, 4.0, 8.0}) {
    const DimValues dims = {{"n", 840}, {"p", devices}};
    CHECK(std::stoll(count_of("all_reduce", &OpDef::link_elements, dims)) ==
          std::stoll(count_of("reduce_scatter", &OpDef::link_elements, dims)) +
              std::stoll(count_of("all_gather", &OpDef::link_elements, dims)));
  }
}

TEST_CASE("one device alone sends nothing", "[ir][ops]") {
  for (const char* kind : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}) {
    CHECK(count_of(kind, &OpDef::link_elements, {{"n", 1000}, {"p", 1}}) == "0");
  }
}

TEST_CASE("an embedding lookup has no FLOP and moves one row a token", "[ir][ops]") {
  CHECK_FALSE(find_op("embedding")->flops);
  CHECK(touched_of("embedding", "table", {{"t", 16}, {"c", 4096}, {"n", 32000}}) == "65536");
  CHECK(touched_of("embedding", "table", {{"t", 1000}, {"c", 8}, {"n", 10}}) == "80");
}

TEST_CASE("a fused norm reads and rewrites the residual stream", "[ir][ops]") {
  const OpDef& norm = *find_op("norm");
  CHECK(norm.operands[4].name == "residual");
  CHECK(norm.operands[4].access == Access::kReadWrite);
  CHECK(count_of("norm", &OpDef::vector_flops,
                 {{"r", 2}, {"c", 10}, {"a", 3}, {"residual", 1}, {"w", 1}}) == "100");
  CHECK(count_of("norm", &OpDef::special_ops, {{"r", 2}, {"c", 10}, {"a", 3}}) == "2");
}

TEST_CASE("rotation takes three FLOP per element, in place", "[ir][ops]") {
  // Four multiplies and two adds per pair.
  CHECK(count_of("rope", &OpDef::vector_flops, {{"t", 1}, {"r", 40}, {"d", 128}}) ==
        std::to_string(40 * 64 * 6));
}

TEST_CASE("softmax takes one exp per element", "[ir][ops]") {
  CHECK(count_of("softmax", &OpDef::special_ops, {{"r", 3}, {"c", 100}}) == "300");
  CHECK(count_of("softmax", &OpDef::special_ops, {{"r", 3}, {"c", 100}, {"h", 8}}) == "303");
}

}  // namespace mansard::ir
