#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/expr_eval.hpp"
#include "ir/expr_text.hpp"
#include "ir/graph_totals.hpp"
#include "tests/frontend/counting.hpp"
#include "tests/frontend/onnx/wire.hpp"

namespace mansard::frontend {
namespace {

using onnx_test::integer;
using onnx_test::ints;
using onnx_test::Net;
using onnx_test::string;

constexpr const char* kClassical = "ai.onnx.ml";

std::string strings(std::string_view name, const std::vector<std::string>& values) {
  std::string out = onnx_test::text(1, name) + onnx_test::number(20, 8);
  for (const std::string& value : values) {
    out += onnx_test::text(9, value);
  }
  return out;
}

ir::Graph read_known(const Net& net) {
  auto graph = net.import();
  INFO((graph ? std::string() : render(graph.error())));
  REQUIRE(graph);
  CHECK(graph->facts.file->unknown_operators.empty());
  return std::move(*graph);
}

std::string shape_of(const ir::Graph& graph, const std::string& name) {
  for (const ir::Tensor& tensor : graph.tensors()) {
    if (tensor.name == name) {
      std::string text;
      for (const ir::Expr extent : tensor.shape) {
        text += (text.empty() ? "" : "x") + ir::print(extent);
      }
      return text;
    }
  }
  return "absent";
}

std::string vector_flops(const ir::Graph& graph, const ir::Bindings& at) {
  ir::Count sum = 0;
  for (const ir::Op& op : graph.ops()) {
    if (op.def->vector_flops) {
      sum += *ir::count(graph.instantiate(op, op.def->vector_flops), at);
    }
  }
  return ir::to_string(sum);
}

/// One op of ai.onnx.ml on a table of `rows` x 6 that writes `scores` (and labels before them).
ir::Graph on_table(const char* op, const std::vector<std::string>& attributes, bool has_labels) {
  Net net;
  net.input("x", {"rows", 6});
  const std::vector<std::string> outputs =
      has_labels ? std::vector<std::string>{"label", "scores"} : std::vector<std::string>{"scores"};
  net.node(op, {"x"}, outputs, attributes, kClassical);
  for (const std::string& output : outputs) {
    net.output(output);
  }
  return read_known(net);
}

/// Tree 0: a root and two leaves. Tree 1: a root whose left child is a node of two leaves.
std::vector<std::string> two_trees() {
  return {ints("nodes_treeids", {0, 0, 0, 1, 1, 1, 1, 1}),
          ints("nodes_nodeids", {0, 1, 2, 0, 1, 2, 3, 4}),
          ints("nodes_truenodeids", {1, 0, 0, 1, 3, 0, 0, 0}),
          ints("nodes_falsenodeids", {2, 0, 0, 2, 4, 0, 0, 0}),
          strings("nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "BRANCH_LEQ", "LEAF",
                                  "LEAF", "LEAF"})};
}

}  // namespace

TEST_CASE("a table's rows stay a symbol through scalers and models", "[frontend][onnx]") {
  for (const char* op : {"Scaler", "Normalizer", "Imputer", "Binarizer"}) {
    CAPTURE(op);
    CHECK(shape_of(on_table(op, {}, false), "scores") == "rowsx6");
  }
  CHECK(vector_flops(on_table("Scaler", {}, false), {{"rows", 10}}) == "120");
  const ir::Graph linear = on_table("LinearRegressor", {integer("targets", 3)}, false);
  CHECK(shape_of(linear, "scores") == "rowsx3");
  CHECK(vector_flops(linear, {{"rows", 10}}) == std::to_string(10 * 2 * 6 * 3));
  const ir::Graph classes =
      on_table("LinearClassifier", {strings("classlabels_strings", {"a", "b", "c", "d"})}, true);
  CHECK(shape_of(classes, "scores") == "rowsx4");
  CHECK(vector_flops(classes, {{"rows", 10}}) == std::to_string(10 * (2 * 6 * 4 + 4)));
}

TEST_CASE("support vectors multiply every row", "[frontend][onnx]") {
  const ir::Graph regressor = on_table("SVMRegressor", {integer("n_supports", 5)}, false);
  CHECK(shape_of(regressor, "scores") == "rowsx1");
  CHECK(vector_flops(regressor, {{"rows", 10}}) == std::to_string(10 * (2 * 6 * 5 + 2 * 5)));
  const ir::Graph classifier = on_table(
      "SVMClassifier", {ints("vectors_per_class", {2, 3}), ints("classlabels_ints", {0, 1})}, true);
  CHECK(shape_of(classifier, "scores") == "rowsx2");
  CHECK(vector_flops(classifier, {{"rows", 10}}) ==
        std::to_string(10 * (2 * 6 * 5 + 2 * 2 * 5 + 2)));
}

TEST_CASE("a row goes down each tree to its deepest leaf at most", "[frontend][onnx]") {
  const ir::Graph regressor = on_table("TreeEnsembleRegressor", two_trees(), false);
  CHECK(shape_of(regressor, "scores") == "rowsx1");
  // One comparison and two, and a sum for the leaf of each.
  CHECK(vector_flops(regressor, {{"rows", 10}}) == std::to_string(10 * (1 + 2 + 2)));
  auto attributes = two_trees();
  attributes.push_back(ints("classlabels_int64s", {0, 1, 2}));
  const ir::Graph classifier = on_table("TreeEnsembleClassifier", attributes, true);
  CHECK(shape_of(classifier, "scores") == "rowsx3");
  CHECK(shape_of(classifier, "label") == "rows");
}

TEST_CASE("trees that are cycles end", "[frontend][onnx]") {
  const std::vector<std::string> cycle = {
      ints("nodes_treeids", {0, 0, 0}), ints("nodes_nodeids", {0, 1, 2}),
      ints("nodes_truenodeids", {1, 2, 1}), ints("nodes_falsenodeids", {9, 9, 9})};
  CHECK(vector_flops(on_table("TreeEnsembleRegressor", cycle, false), {{"rows", 1}}) == "3");
}

TEST_CASE("encoders widen tables", "[frontend][onnx]") {
  CHECK(shape_of(on_table("OneHotEncoder", {ints("cats_int64s", {1, 2, 3})}, false), "scores") ==
        "rowsx6x3");
  Net net;
  net.input("a", {"rows", 2}).input("b", {"rows", 3});
  net.node("FeatureVectorizer", {"a", "b"}, {"all"}, {ints("inputdimensions", {2, 3})}, kClassical);
  net.integers("columns", {0, 4});
  net.node("ArrayFeatureExtractor", {"all", "columns"}, {"y"}, {}, kClassical).output("y");
  const ir::Graph graph = read_known(net);
  CHECK(shape_of(graph, "all") == "rowsx5");
  CHECK(shape_of(graph, "y") == "rowsx2");
  Net grams;
  grams.input("x", {"rows", 12}, onnx_test::kInt64);
  grams.node("TfIdfVectorizer", {"x"}, {"y"}, {ints("ngram_indexes", {0, 3, 1, 2})}).output("y");
  CHECK(shape_of(read_known(grams), "y") == "rowsx4");
}

TEST_CASE("losses are a number, or one a label", "[frontend][onnx]") {
  const auto loss = [](const char* op, const char* reduction) {
    Net net;
    net.input("scores", {"batch", 10, 7}).input("labels", {"batch", 7}, onnx_test::kInt64);
    net.node(op, {"scores", "labels"}, {"loss"}, {string("reduction", reduction)}).output("loss");
    return read_known(net);
  };
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    CAPTURE(op);
    CHECK(shape_of(loss(op, "none"), "loss") == "batchx7");
    CHECK(shape_of(loss(op, "mean"), "loss").empty());
  }
  CHECK(vector_flops(loss("NegativeLogLikelihoodLoss", "none"), {{"batch", 2}}) == "14");
  CHECK(vector_flops(loss("SoftmaxCrossEntropyLoss", "none"), {{"batch", 2}}) ==
        std::to_string(4 * 2 * 10 * 7 + 14));
}

TEST_CASE("images with channels last are counted, not taken for nothing", "[frontend][onnx]") {
  // ThanatosShinji/onnx-tool#4: a converter's NHWC input behind a Transpose gave 0 MACs.
  Net net;
  net.input("x", {"batch", 8, 8, 3}).weight("w", {16, 3, 3, 3});
  net.node("Transpose", {"x"}, {"t"}, {ints("perm", {0, 3, 1, 2})});
  net.node("Conv", {"t", "w"}, {"y"}).output("y");
  const ir::Graph graph = read_known(net);
  CHECK(shape_of(graph, "y") == "batchx16x6x6");
  CHECK(flops(graph, {{"batch", 2}}) == std::to_string(2 * 2 * 16 * 36 * 27));
}

TEST_CASE("DynamicQuantizeLinear is known, and its integers multiply", "[frontend][onnx]") {
  // ThanatosShinji/onnx-tool#91.
  Net net;
  net.input("x", {"batch", 64}).weight("w", {64, 32}, onnx_test::kInt8);
  net.node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
  net.node("MatMulInteger", {"q", "w", "zero"}, {"y"}).output("y");
  const ir::Graph graph = read_known(net);
  CHECK(shape_of(graph, "y") == "batchx32");
  CHECK(flops(graph, {{"batch", 4}}) == std::to_string(2 * 4 * 64 * 32));
  CHECK(ir::parameter_counts(graph).total == 64 * 32);
}

}  // namespace mansard::frontend
