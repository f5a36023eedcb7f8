#include <string>

#include <catch2/catch.hpp>

#include "ir/algorithms.hpp"
#include "ir/graph_totals.hpp"
#include "ir/passes/fuse_network.hpp"
#include "ir/passes/passes.hpp"
#include "ir/verify.hpp"
#include "tests/frontend/counting.hpp"
#include "tests/frontend/onnx/wire.hpp"

namespace mansard::frontend {
namespace {

using onnx_test::ints;
using onnx_test::Net;

std::string bytes_of(const ir::Graph& graph) {
  return ir::to_string(*ir::count(ir::totals(graph).bytes, {}));
}

ir::Graph read(const Net& net) {
  auto graph = net.import();
  INFO((graph ? std::string() : render(graph.error())));
  REQUIRE(graph);
  return std::move(*graph);
}

}  // namespace

TEST_CASE("convolution, batch norm and activation become one op", "[frontend][onnx][passes]") {
  Net net;
  net.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3});
  for (const char* name : {"s", "b", "m", "v"}) {
    net.weight(name, {4});
  }
  net.node("Conv", {"x", "w"}, {"c"}, {ints("pads", {1, 1, 1, 1})});
  net.node("BatchNormalization", {"c", "s", "b", "m", "v"}, {"n"});
  net.node("Relu", {"n"}, {"y"}).output("y");
  const ir::Graph before = read(net);
  ir::FusionCounts counts;
  const ir::Graph after = ir::fuse_network(before, &counts);
  REQUIRE(after.ops().size() == 1);
  CHECK(counts.norms == 1);
  CHECK(counts.epilogues == 1);
  CHECK(ir::verify(after).empty());
  CHECK(flops(after, {}) == flops(before, {}));
  CHECK(ir::parameter_counts(after).total == ir::parameter_counts(before).total);
  // x, w, one bias and y: nothing in between is written or read.
  CHECK(bytes_of(after) == std::to_string(4 * (3 * 64 + 4 * 27 + 4 + 4 * 64)));
}

TEST_CASE("a matmul takes bias, activation and residual into its epilogue",
          "[frontend][onnx][passes]") {
  Net net;
  net.input("x", {8, 16}).input("r", {8, 32}).weight("w", {16, 32}).weight("b", {32});
  net.node("Gemm", {"x", "w", "b"}, {"h"}).node("Sigmoid", {"h"}, {"g"});
  net.node("Add", {"g", "r"}, {"y"}).output("y");
  const ir::Graph before = read(net);
  const ir::Graph after = ir::fuse_network(before);
  REQUIRE(after.ops().size() == 1);
  CHECK(ir::verify(after).empty());
  CHECK(flops(after, {}) == flops(before, {}));
  CHECK(ir::to_string(*ir::count(ir::totals(after).vector_flops, {})) ==
        ir::to_string(*ir::count(ir::totals(before).vector_flops, {})));
  CHECK(bytes_of(after) == std::to_string(4 * (8 * 16 + 16 * 32 + 32 + 2 * 8 * 32)));
}

TEST_CASE("what another op reads is still written", "[frontend][onnx][passes]") {
  Net net;
  net.input("x", {8, 16}).weight("w", {16, 16});
  net.node("MatMul", {"x", "w"}, {"h"}).node("Relu", {"h"}, {"a"}).node("Neg", {"h"}, {"b"});
  net.output("a").output("b");
  CHECK(ir::fuse_network(read(net)).ops().size() == 3);
}

TEST_CASE("an output of the file is still written", "[frontend][onnx][passes]") {
  Net net;
  net.input("x", {8, 16}).weight("w", {16, 16});
  net.node("MatMul", {"x", "w"}, {"h"}).node("Relu", {"h"}, {"y"});
  net.output("h").output("y");
  const ir::Graph before = read(net);
  const ir::Graph after = ir::fuse_network(before);
  CHECK(after.ops().size() == 2);
  CHECK(bytes_of(after) == bytes_of(before));
}

TEST_CASE("formats of weights and activations reach convolutions", "[frontend][onnx][passes]") {
  Net net;
  net.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3});
  net.node("Conv", {"x", "w"}, {"y"}, {ints("pads", {1, 1, 1, 1})}).output("y");
  const ir::Dtype* int8 = ir::find_dtype("int8");
  REQUIRE(int8 != nullptr);
  const auto weights = ir::set_formats(read(net), {.weights = int8});
  REQUIRE(weights);
  CHECK(bytes_of(*weights) == std::to_string(4 * (3 * 64 + 4 * 64) + 4 * 27));
}

TEST_CASE("scores, softmax and values become an attention", "[frontend][onnx][passes]") {
  Net net;
  net.input("q", {2, 4, 10, 8}).input("k", {2, 4, 8, 12}).input("v", {2, 4, 12, 8});
  net.input("mask", {2, 1, 10, 12}).input("s", {});
  net.node("MatMul", {"q", "k"}, {"scores"}).node("Mul", {"scores", "s"}, {"scaled"});
  net.node("Softmax", {"scaled"}, {"p"}).node("MatMul", {"p", "v"}, {"y"}).output("y");
  const ir::Graph before = read(net);
  ir::FusionCounts counts;
  const ir::Graph after = ir::fuse_network(before, &counts);
  CHECK(counts.attentions == 1);
  REQUIRE(after.ops().size() == 1);
  CHECK(after.ops()[0].def->name == "attention");
  CHECK(flops(after, {}) == flops(before, {}));
  CHECK(flops(after, {}) == std::to_string(2 * 2 * 4 * 10 * 12 * (8 + 8)));
  CHECK(ir::verify(after).empty());
}

TEST_CASE("attention is recognised however its scores are scaled and masked",
          "[frontend][onnx][passes]") {
  const auto fused = [](const auto& masking) {
    Net net;
    net.input("q", {2, 4, 10, 8}).input("k", {2, 4, 8, 12}).input("v", {2, 4, 12, 8});
    net.input("s", {}).input("keep", {1, 1, 10, 12}, onnx_test::kBool);
    net.input("mask", {2, 1, 10, 12}).input("whole", {2, 4, 10, 12});
    net.node("MatMul", {"q", "k"}, {"scores"});
    masking(net);
    net.node("MatMul", {"p", "v"}, {"y"}).output("y");
    const ir::Graph before = read(net);
    const ir::Graph after = ir::fuse_network(before);
    CHECK(ir::verify(after).empty());
    CHECK(flops(after, {}) == flops(before, {}));
    return after.ops().size() == 1 && after.ops()[0].def->name == "attention";
  };
  CHECK(fused([](Net& net) {  // a scale, then an additive mask
    net.node("Div", {"scores", "s"}, {"a"}).node("Add", {"a", "mask"}, {"b"});
    net.node("Softmax", {"b"}, {"p"});
  }));
  CHECK(fused([](Net& net) {  // a mask for every head, in front
    net.node("Add", {"whole", "scores"}, {"a"}).node("Softmax", {"a"}, {"p"});
  }));
  CHECK(fused([](Net& net) {  // a choice, as causal masks are
    net.node("Where", {"keep", "scores", "s"}, {"a"}).node("Softmax", {"a"}, {"p"});
  }));
  CHECK(fused([](Net& net) {  // weights converted
    net.node("Softmax", {"scores"}, {"w"});
    net.node("Cast", {"w"}, {"p"}, {onnx_test::integer("to", onnx_test::kFloat)});
  }));
  CHECK_FALSE(fused([](Net& net) {  // the weights are an output of the file too
    net.node("Softmax", {"scores"}, {"p"}).output("p");
  }));
}

TEST_CASE("parallel branches are off the critical path", "[frontend][onnx]") {
  Net net;
  net.input("x", {8, 8});
  net.node("Relu", {"x"}, {"a"}).node("Neg", {"a"}, {"b"}).node("Exp", {"x"}, {"c"});
  net.node("Concat", {"b", "c"}, {"y"}, {onnx_test::integer("axis", 0)}).output("y");
  const ir::Graph graph = read(net);
  const ir::CriticalPath path = ir::critical_path(graph, {1, 1, 1, 1});
  CHECK(path.weight == 3);
  // x, a and c while the last branch runs; never all four at once.
  std::size_t most = 0;
  for (const auto& alive : ir::live_activations(graph)) {
    most = std::max(most, alive.size());
  }
  CHECK(most == 3);
}

}  // namespace mansard::frontend
