#include <catch2/catch.hpp>

#include "ir/graph_totals.hpp"
#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"
#include "ir/verify.hpp"
#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

std::string total(const Graph& graph, Expr GraphTotals::* what) {
  return exact(totals(graph).*what, decode(3, 100));
}

}  // namespace

TEST_CASE("taking elementwise ops apart keeps arithmetic and moves more bytes", "[ir][passes]") {
  const Graph fused = llama(kLlama31_8b);
  const Graph apart = unfuse_elementwise(llama(kLlama31_8b));
  CHECK(render(verify(apart)).empty());
  CHECK(total(apart, &GraphTotals::flops) == total(fused, &GraphTotals::flops));
  CHECK(total(apart, &GraphTotals::vector_flops) == total(fused, &GraphTotals::vector_flops));
  CHECK(total(apart, &GraphTotals::special_ops) == total(fused, &GraphTotals::special_ops));
  // A residual add apart moves the sum once more (65 norms of 3 x 4096), a gate product the
  // activation twice more (32 of 3 x 14336).
  CHECK(std::stoll(total(apart, &GraphTotals::bytes)) -
            std::stoll(total(fused, &GraphTotals::bytes)) ==
        2LL * (65 * 3 * 4096 + 32 * 2 * 3 * 14336));
}

TEST_CASE("fusing what was taken apart gives the graph back", "[ir][passes]") {
  const Graph fused = llama(kLlama31_8b);
  const Graph back = fuse_elementwise(unfuse_elementwise(llama(kLlama31_8b)));
  CHECK(render(verify(back)).empty());
  REQUIRE(back.ops().size() == fused.ops().size());
  for (std::size_t i = 0; i < fused.ops().size(); ++i) {
    CHECK(back.ops()[i].name == fused.ops()[i].name);
    CHECK(back.ops()[i].operands == fused.ops()[i].operands);
  }
  CHECK(total(back, &GraphTotals::bytes) == total(fused, &GraphTotals::bytes));
  CHECK(total(back, &GraphTotals::vector_flops) == total(fused, &GraphTotals::vector_flops));
}

namespace {

/// x2 = x + f(x): the residual as ONNX writes it, then a norm of it.
Graph onnx_like(bool residual_is_read_later) {
  Graph graph;
  ExprPool& pool = graph.pool();
  const Expr n = pool.constant(64);
  graph.add_block("model", 1);
  const auto tensor = [&](std::string name) {
    return graph.add_tensor({.name = std::move(name), .dtype = find_dtype("bf16"), .shape = {n}});
  };
  const auto elementwise =
      [&](std::string name, std::string function,
          const std::vector<std::pair<std::string_view, std::optional<TensorId>>>& o) {
        const OpDef* def = find_op("elementwise");
        const double inputs = o.size() == 3 ? 2 : 1;
        graph.add_op({.name = std::move(name),
                      .def = def,
                      .dims = {{"n", n}, {"i", inputs * n}, {"a", pool.constant(1)}},
                      .operands = operands_by_name(*def, o),
                      .attributes = {{"function", std::move(function)}}});
      };
  const TensorId x = tensor("x");
  const TensorId branch = tensor("branch");
  const TensorId sum = tensor("sum");
  const TensorId normalised = tensor("normalised");
  const TensorId out = tensor("out");
  elementwise("f", "gelu", {{"x", x}, {"o", branch}});
  elementwise("add", "add", {{"x", branch}, {"o", sum}, {"y", x}});
  const OpDef* norm = find_op("norm");
  graph.add_op({.name = "norm",
                .def = norm,
                .dims = {{"r", pool.constant(1)}, {"c", n}, {"a", pool.constant(3)}},
                .operands = operands_by_name(*norm, {{"x", sum}, {"o", normalised}})});
  elementwise("add2", "add",
              {{"x", normalised}, {"o", out}, {"y", residual_is_read_later ? x : sum}});
  return graph;
}

}  // namespace

TEST_CASE("a residual add that makes a new tensor fuses with the norm after it", "[ir][passes]") {
  const Graph graph = fuse_elementwise(onnx_like(false));
  REQUIRE(graph.ops().size() == 3);
  const Op& norm = op_named(graph, "norm");
  CHECK(graph.tensor(tensor_of(norm, "x")).name == "branch");
  CHECK(graph.tensor(tensor_of(norm, "residual")).name == "x");
  CHECK(graph.tensor(tensor_of(op_named(graph, "add2"), "y")).name == "x");
}

TEST_CASE("a residual that is still needed as it was keeps its add", "[ir][passes]") {
  // The other term of the sum, which nothing reads any more, takes the sum instead.
  const Graph graph = fuse_elementwise(onnx_like(true));
  const Op& norm = op_named(graph, "norm");
  REQUIRE(graph.ops().size() == 3);
  CHECK(graph.tensor(tensor_of(norm, "residual")).name == "branch");
  CHECK(graph.tensor(tensor_of(op_named(graph, "add2"), "y")).name == "x");
}

}  // namespace mansard::ir
