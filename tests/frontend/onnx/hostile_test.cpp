#include <chrono>
#include <string>

#include <catch2/catch.hpp>

#include "frontend/onnx/strip.hpp"
#include "tests/frontend/onnx/wire.hpp"

namespace mansard::frontend::onnx {
namespace {

using onnx_test::integer;
using onnx_test::ints;
using onnx_test::Net;

/// The id of the first error; "" if there is none.
std::string refusal(const Result<ir::Graph>& graph) {
  return graph ? "" : graph.error().front().id;
}

Net small() {
  Net net;
  net.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3});
  return net;
}

}  // namespace

TEST_CASE("every truncation of a model is refused or read, never a crash", "[frontend][onnx]") {
  Net net = small();
  net.node("Conv", {"x", "w"}, {"y"}).node("Relu", {"y"}, {"z"}).output("z");
  const std::string whole = net.model();
  REQUIRE(import_bytes(whole, "test.onnx", "test"));
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    refused += import_bytes(whole.substr(0, size), "test.onnx", "test") ? 0 : 1;
  }
  CHECK(refused > whole.size() / 2);
}

TEST_CASE("bytes that are no model are refused with what they are", "[frontend][onnx]") {
  CHECK(refusal(import_bytes("", "x.onnx", "x")) == "onnx-malformed");
  CHECK(refusal(import_bytes("hello, world", "x.onnx", "x")) == "onnx-malformed");
  CHECK(refusal(import_bytes("version https://git-lfs.github.com/spec/v1\noid", "x.onnx", "x")) ==
        "onnx-pointer");
  CHECK(refusal(Net().import()) == "onnx-empty");
}

TEST_CASE("cycles, missing inputs and double writers are named", "[frontend][onnx]") {
  Net cycle;
  cycle.node("Relu", {"a"}, {"b"}, {}, "", "first").node("Relu", {"b"}, {"a"}).output("a");
  const auto graph = cycle.import();
  REQUIRE(refusal(graph) == "onnx-cycle");
  CHECK(graph.error().front().message.find("'first'") != std::string::npos);
  Net missing = small();
  missing.node("Conv", {"x", "absent"}, {"y"}, {}, "", "stem").output("y");
  const auto lacking = missing.import();
  REQUIRE(refusal(lacking) == "onnx-missing-input");
  CHECK(lacking.error().front().message.find("'absent'") != std::string::npos);
  CHECK(lacking.error().front().message.find("'stem'") != std::string::npos);
  Net twice = small();
  twice.node("Relu", {"x"}, {"y"}).node("Neg", {"x"}, {"y"}).output("y");
  CHECK(refusal(twice.import()) == "onnx-duplicate");
  Net nothing = small();
  nothing.node("Relu", {"x"}, {"y"}).output("z");
  CHECK(refusal(nothing.import()) == "onnx-missing-output");
}

TEST_CASE("nodes out of order are put in order", "[frontend][onnx]") {
  Net net = small();
  net.node("Relu", {"y"}, {"z"}).node("Conv", {"x", "w"}, {"y"}).output("z");
  const auto graph = net.import();
  REQUIRE(graph);
  CHECK(graph->ops().front().def->name == "convolution");
}

TEST_CASE("negative and enormous dimensions are refused", "[frontend][onnx]") {
  Net negative;
  negative.input("x", {2}).weight("w", {-4, 3});
  negative.node("MatMul", {"x", "w"}, {"y"}).output("y");
  CHECK(refusal(negative.import()) == "onnx-dimension");
  Net enormous;
  enormous.input("x", {2}).weight("w", {INT64_MAX, INT64_MAX});
  enormous.node("MatMul", {"x", "w"}, {"y"}).output("y");
  CHECK(refusal(enormous.import()) == "onnx-dimension");
  Net input;
  input.input("x", {std::int64_t{1} << 60});
  input.node("Relu", {"x"}, {"y"}).output("y");
  CHECK(refusal(input.import()) == "onnx-dimension");
}

TEST_CASE("shapes and attributes that contradict are refused", "[frontend][onnx]") {
  const auto conv = [](const std::vector<std::string>& attributes) {
    Net net = small();
    net.node("Conv", {"x", "w"}, {"y"}, attributes).output("y");
    return refusal(net.import());
  };
  CHECK(conv({}).empty());
  CHECK(conv({ints("strides", {0, 1})}) == "onnx-attribute");
  CHECK(conv({ints("strides", {1})}) == "onnx-attribute");
  CHECK(conv({ints("pads", {1, 1})}) == "onnx-attribute");
  CHECK(conv({integer("group", 0)}) == "onnx-attribute");
  CHECK(conv({integer("group", 2)}) == "onnx-shape");
  CHECK(conv({ints("dilations", {9, 9})}) == "onnx-shape");
  Net product;
  product.input("a", {2, 3}).input("b", {4, 5});
  product.node("MatMul", {"a", "b"}, {"c"}).output("c");
  CHECK(refusal(product.import()) == "onnx-shape");
  // ultralytics/thop#166: a layout that does not fit is refused, never guessed.
  Net layout;
  layout.input("x", {1, 8, 8, 3}).weight("w", {4, 3, 3, 3});
  layout.node("Conv", {"x", "w"}, {"y"}).output("y");
  CHECK(refusal(layout.import()) == "onnx-shape");
  Net reshaped;
  reshaped.input("x", {2, 3}).integers("s", {4, -1});
  reshaped.node("Reshape", {"x", "s"}, {"y"}).output("y");
  CHECK(refusal(reshaped.import()) == "onnx-shape");
  Net axis;
  axis.input("x", {2, 3});
  axis.node("Softmax", {"x"}, {"y"}, {integer("axis", 5)}).output("y");
  CHECK(refusal(axis.import()) == "onnx-axis");
}

TEST_CASE("a node without its inputs or body is an error, not a crash", "[frontend][onnx]") {
  for (const char* type : {"Conv",
                           "MatMul",
                           "Gemm",
                           "Relu",
                           "Add",
                           "Concat",
                           "Reshape",
                           "Loop",
                           "Scan",
                           "If",
                           "LSTM",
                           "Einsum",
                           "Softmax",
                           "BatchNormalization",
                           "LayerNormalization",
                           "Gather",
                           "Slice",
                           "Split",
                           "TopK",
                           "Resize",
                           "Range",
                           "ConstantOfShape",
                           "Expand",
                           "Where",
                           "Attention",
                           "QuantizeLinear",
                           "NonMaxSuppression",
                           "ConvTranspose",
                           "MaxPool",
                           "Pad",
                           "Tile",
                           "Transpose",
                           "OneHot"}) {
    CAPTURE(type);
    Net net;
    net.node(type, {}, {"y"}).output("y");
    const auto graph = net.import();
    CHECK((graph || !graph.error().empty()));
    Net scalar;
    scalar.input("x", {}).node(type, {"x", "x", "x", "x"}, {"y"}).output("y");
    const auto second = scalar.import();
    CHECK((second || !second.error().empty()));
  }
}

TEST_CASE("a function that calls itself is refused", "[frontend][onnx]") {
  using onnx_test::text;
  const std::string function =
      text(1, "Again") + text(4, "x") + text(5, "y") +
      text(7, text(1, "x") + text(2, "y") + text(4, "Again") + text(7, "local")) +
      text(10, "local");
  Net net;
  net.input("x", {1}).function(function);
  net.node("Again", {"x"}, {"y"}, {}, "local").output("y");
  CHECK(refusal(net.import()) == "onnx-depth");
}

TEST_CASE("data of large tensors are left behind before anything is parsed", "[frontend][onnx]") {
  using onnx_test::number;
  using onnx_test::text;
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  Net net;
  net.input("x", {1, 4096});
  net.raw(5, onnx_test::tensor("w", {4096, 4096}, onnx_test::kFloat) +
                 text(9, std::string(kBytes, '\1')));
  net.node("MatMul", {"x", "w"}, {"y"}).output("y");
  const std::string model = net.model();
  const auto header = strip_tensor_data(model);
  REQUIRE(header);
  CHECK(header->size() < 1000);
  const auto graph = import_bytes(model, "big.onnx", "big");
  REQUIRE(graph);
  CHECK(ir::parameter_counts(*graph).total == 4096 * 4096);
}

}  // namespace mansard::frontend::onnx
