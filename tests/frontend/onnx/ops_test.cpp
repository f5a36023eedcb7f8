#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ir/expr_text.hpp"
#include "ir/graph_text.hpp"
#include "ir/graph_totals.hpp"
#include "ir/passes/bind.hpp"
#include "tests/frontend/counting.hpp"
#include "tests/frontend/onnx/wire.hpp"

namespace mansard::frontend {
namespace {

using onnx_test::Dim;
using onnx_test::integer;
using onnx_test::ints;
using onnx_test::Net;
using onnx_test::string;

ir::Graph read(const Net& net) {
  auto graph = net.import();
  INFO((graph ? std::string() : render(graph.error())));
  REQUIRE(graph);
  return std::move(*graph);
}

/// The shape of the tensor of that name: "batchx3".
std::string shape(const ir::Graph& graph, const std::string& name) {
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

std::size_t ops_of(const ir::Graph& graph, std::string_view kind) {
  std::size_t count = 0;
  for (const ir::Op& op : graph.ops()) {
    count += op.def->name == kind ? 1 : 0;
  }
  return count;
}

std::string total_flops(const ir::Graph& graph) {
  return flops(graph, {});
}

}  // namespace

TEST_CASE("a convolution pads as auto_pad says and honours stride, dilation and groups",
          "[frontend][onnx]") {
  const auto conv = [](const std::vector<std::string>& attributes) {
    Net net;
    net.input("x", {1, 4, 9, 9}).weight("w", {8, 2, 3, 3});
    std::vector<std::string> all = attributes;
    all.push_back(integer("group", 2));
    net.node("Conv", {"x", "w"}, {"y"}, all).output("y");
    return read(net);
  };
  CHECK(shape(conv({}), "y") == "1x8x7x7");
  CHECK(shape(conv({string("auto_pad", "SAME_UPPER"), ints("strides", {2, 2})}), "y") == "1x8x5x5");
  CHECK(shape(conv({ints("pads", {1, 1, 1, 1}), ints("dilations", {2, 2})}), "y") == "1x8x7x7");
  CHECK(shape(conv({string("auto_pad", "VALID"), ints("strides", {3, 3})}), "y") == "1x8x3x3");
  // 8 outputs x 49 positions x 2 channels x 9 taps.
  CHECK(total_flops(conv({})) == std::to_string(2 * 8 * 49 * 2 * 9));
}

TEST_CASE("convolutions of one and three dimensions and transposed ones count",
          "[frontend][onnx]") {
  Net one;
  one.input("x", {2, 3, 100}).weight("w", {5, 3, 7});
  one.node("Conv", {"x", "w"}, {"y"}).output("y");
  CHECK(total_flops(read(one)) == std::to_string(2 * 2 * 5 * 94 * 3 * 7));
  Net three;
  three.input("x", {1, 2, 4, 5, 6}).weight("w", {3, 2, 2, 2, 2});
  three.node("Conv", {"x", "w"}, {"y"}).output("y");
  CHECK(total_flops(read(three)) == std::to_string(2 * 3 * (3 * 4 * 5) * 2 * 8));
  Net transposed;
  transposed.input("x", {1, 16, 10, 10}).weight("w", {16, 4, 3, 3});
  transposed
      .node("ConvTranspose", {"x", "w"}, {"y"},
            {ints("strides", {2, 2}), integer("group", 2), ints("output_padding", {1, 1}),
             ints("pads", {1, 1, 1, 1})})
      .output("y");
  const ir::Graph graph = read(transposed);
  CHECK(shape(graph, "y") == "1x8x20x20");
  // Every input position times every tap times every output channel of its group.
  CHECK(total_flops(graph) == std::to_string(2 * 16 * 100 * 4 * 9));
}

TEST_CASE("MatMul broadcasts leading dimensions", "[frontend][onnx]") {
  const auto product = [](const std::vector<Dim>& a, const std::vector<Dim>& b) {
    Net net;
    net.input("a", a).input("b", b);
    net.node("MatMul", {"a", "b"}, {"c"}).output("c");
    return read(net);
  };
  CHECK(shape(product({5, 2, 3}, {3, 4}), "c") == "5x2x4");
  CHECK(total_flops(product({5, 2, 3}, {3, 4})) == std::to_string(2 * 5 * 2 * 4 * 3));
  CHECK(total_flops(product({2, 3}, {7, 3, 4})) == std::to_string(2 * 7 * 2 * 4 * 3));
  CHECK(total_flops(product({1, 6, 2, 3}, {5, 1, 3, 4})) == std::to_string(2 * 30 * 2 * 4 * 3));
  CHECK(shape(product({3}, {3}), "c").empty());
  CHECK(total_flops(product({3}, {3})) == "6");
  CHECK(shape(product({3}, {2, 3, 4}), "c") == "2x4");
}

TEST_CASE("Einsum counts its contractions", "[frontend][onnx]") {
  const auto einsum = [](const char* equation, const std::vector<Dim>& a,
                         const std::vector<Dim>& b) {
    Net net;
    net.input("a", a).input("b", b);
    net.node("Einsum", {"a", "b"}, {"c"}, {string("equation", equation)}).output("c");
    return read(net);
  };
  CHECK(total_flops(einsum("bhqd,bhkd->bhqk", {2, 4, 5, 8}, {2, 4, 6, 8})) ==
        std::to_string(2 * 2 * 4 * 5 * 6 * 8));
  CHECK(shape(einsum("bqhd,hde->bqe", {2, 3, 4, 5}, {4, 5, 7}), "c") == "2x3x7");
  CHECK(total_flops(einsum("bqhd,hde->bqe", {2, 3, 4, 5}, {4, 5, 7})) ==
        std::to_string(2 * 6 * 7 * 20));
  CHECK(total_flops(einsum("...ij,...jk->...ik", {9, 2, 3}, {9, 3, 4})) ==
        std::to_string(2 * 9 * 2 * 4 * 3));
}

TEST_CASE("dimensions that the file names stay symbols in every count", "[frontend][onnx]") {
  Net net;
  net.input("x", {"batch", 3, "height", 32}).weight("w", {8, 3, 3, 3}).weight("fc", {8, 10});
  net.node("Conv", {"x", "w"}, {"y"}, {ints("pads", {1, 1, 1, 1}), ints("strides", {2, 2})});
  net.node("GlobalAveragePool", {"y"}, {"p"});
  net.node("Flatten", {"p"}, {"f"});
  net.node("MatMul", {"f", "fc"}, {"z"}).output("z");
  const ir::Graph graph = read(net);
  CHECK(shape(graph, "z") == "batchx10");
  REQUIRE(ir::free_symbols(graph).size() == 1);
  CHECK(ir::free_symbols(graph)[0].name == "height");
  const auto bound = ir::bind_symbols(graph, {{"height", graph.pool().constant(32)}});
  REQUIRE(bound);
  // 4 samples: 8 x 16 x 16 outputs of 27, and 8 x 10.
  CHECK(flops(*bound, {{"batch", 4}}) == std::to_string(4 * (2 * 8 * 256 * 27 + 2 * 8 * 10)));
}

TEST_CASE("shape arithmetic folds", "[frontend][onnx]") {
  // x.view(x.shape[0], x.shape[1], 12, -1).transpose(1, 2), as PyTorch exports it.
  Net net;
  net.input("x", {"batch", "sequence", 768});
  net.integers("zero", {0}).integers("one", {1}).integers("twelve", {12}).integers("rest", {-1});
  net.node("Shape", {"x"}, {"s"});
  net.node("Gather", {"s", "zero"}, {"b"}, {integer("axis", 0)});
  net.node("Gather", {"s", "one"}, {"q"}, {integer("axis", 0)});
  net.node("Concat", {"b", "q", "twelve", "rest"}, {"shape"}, {integer("axis", 0)});
  net.node("Reshape", {"x", "shape"}, {"heads"});
  net.node("Transpose", {"heads"}, {"y"}, {ints("perm", {0, 2, 1, 3})}).output("y");
  const ir::Graph graph = read(net);
  CHECK(shape(graph, "y") == "batchx12xsequencex64");
  CHECK(graph.ops().size() == 1);
}

TEST_CASE("sums of symbols cancel", "[frontend][onnx]") {
  // Concat(past, new) and then a slice of the last `new` rows is `new` rows again.
  Net net;
  net.input("past", {1, "past", 8}).input("new", {1, "seq", 8});
  net.node("Concat", {"past", "new"}, {"all"}, {integer("axis", 1)});
  net.node("Shape", {"past"}, {"s"});
  net.integers("one", {1}).integers("end", {INT64_MAX}).integers("axes", {1});
  net.node("Gather", {"s", "one"}, {"begin"}, {integer("axis", 0)});
  net.node("Slice", {"all", "begin", "end", "axes"}, {"y"});
  net.node("Relu", {"y"}, {"z"}).output("z");
  CHECK(shape(read(net), "z") == "1xseqx8");
}

TEST_CASE("sizes that data decide are named unknowns", "[frontend][onnx]") {
  Net net;
  net.input("x", {100});
  net.node("NonZero", {"x"}, {"where"}).output("where");
  const ir::Graph graph = read(net);
  REQUIRE(ir::free_symbols(graph).size() == 1);
  CHECK(ir::free_symbols(graph)[0].name == "where.count");
  CHECK(shape(graph, "where") == "1xwhere.count");
}

TEST_CASE("an op that is not known is bytes only, and says that totals are partial",
          "[frontend][onnx]") {
  Net net;
  net.input("x", {4, 5});
  net.node("Mystery", {"x"}, {"y"}, {}, "com.acme");
  net.raw(13, onnx_test::value_info("y", {4, 7}));
  net.node("Relu", {"y"}, {"z"}).output("z");
  const ir::Graph graph = read(net);
  CHECK(graph.facts.file->unknown_operators == std::vector<std::string>{"com.acme.Mystery"});
  CHECK(shape(graph, "z") == "4x7");
  REQUIRE(ops_of(graph, "custom") == 1);
  const ir::Op& op = graph.ops().front();
  CHECK(ir::to_string(*ir::count(ir::operand_bytes(graph, op, 0), {})) == "80");
  CHECK(ir::to_string(*ir::count(ir::operand_bytes(graph, op, 1), {})) == "112");
  CHECK(graph.facts.notes.size() == 1);
}

TEST_CASE("an unknown op without a declared shape makes unknown elements, not a crash",
          "[frontend][onnx]") {
  Net net;
  net.input("x", {4, 5});
  net.node("Mystery", {"x"}, {"y"}, {}, "com.acme");
  net.node("Conv", {"y", "x"}, {"z"}).output("z");
  const ir::Graph graph = read(net);
  CHECK(!ir::free_symbols(graph).empty());
}

TEST_CASE("weights that are shared count once, their work as often as it is done",
          "[frontend][onnx]") {
  // deepspeedai/DeepSpeed#7256: one linear of 100 x 100 used three times on a row.
  Net net;
  net.input("x", {1, 100}).weight("w", {100, 100});
  net.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"a", "w"}, {"b"});
  net.node("MatMul", {"b", "w"}, {"c"}).output("c");
  const ir::Graph graph = read(net);
  CHECK(total_flops(graph) == std::to_string(3 * 2 * 100 * 100));
  CHECK(ir::parameter_counts(graph).total == 100 * 100);
}

TEST_CASE("attention of a block is 4 H S S D whatever the number of heads", "[frontend][onnx]") {
  // pytorch/pytorch#195460 (12 heads of 64, 64 tokens: 12,582,912) and fvcore#153.
  const auto attention = [](std::int64_t heads) {
    Net net;
    for (const char* name : {"q", "k", "v"}) {
      net.input(name, {1, 64, 768});
    }
    net.node("Attention", {"q", "k", "v"}, {"y"},
             {integer("q_num_heads", heads), integer("kv_num_heads", heads)})
        .output("y");
    return total_flops(read(net.opset(23)));
  };
  CHECK(attention(12) == std::to_string(4 * 12 * 64 * 64 * 64));
  CHECK(attention(1) == attention(12));
}

TEST_CASE("grouped queries read the keys of their groups", "[frontend][onnx]") {
  // hahnyuan/LLM-Viewer#12: KV bytes follow key-value heads, not query heads.
  Net net;
  net.input("q", {"batch", "seq", 8 * 16}).input("k", {"batch", "seq", 2 * 16});
  net.input("v", {"batch", "seq", 2 * 16});
  net.input("past_k", {"batch", 2, "past", 16}).input("past_v", {"batch", 2, "past", 16});
  net.input("lengths", {"batch"}, 6).scalar("total", 1);
  net.node("GroupQueryAttention", {"q", "k", "v", "past_k", "past_v", "lengths", "total"},
           {"y", "present_k", "present_v"}, {integer("num_heads", 8), integer("kv_num_heads", 2)},
           "com.microsoft");
  net.output("y").output("present_k").output("present_v");
  const ir::Graph graph = read(net);
  CHECK(ops_of(graph, "kv_write") == 2);
  CHECK(ir::to_string(*ir::count(ir::kv_bytes(graph), {{"batch", 1}, {"seq", 1}, {"past", 99}})) ==
        std::to_string(100 * 2 * (16 + 16) * 4));
}

TEST_CASE("a slice at positions of unknown rank keeps the other extents", "[frontend][onnx]") {
  Net net;
  net.input("x", {1, "width", 1280}).integers("axes", {1});
  net.node("Unknown", {"x"}, {"start"}, {}, "com.acme")
      .node("Unknown", {"x"}, {"end"}, {}, "com.acme");
  net.node("Slice", {"x", "start", "end", "axes"}, {"part"}).output("part");
  CHECK(shape(read(net), "part") == "1xpart.1x1280");
}

TEST_CASE("recurrent layers multiply once a step and gate", "[frontend][onnx]") {
  const auto cell = [](const char* type, std::int64_t gates) {
    Net net;
    net.input("x", {"steps", 2, 10})
        .weight("w", {1, gates * 20, 10})
        .weight("r", {1, gates * 20, 20});
    net.node(type, {"x", "w", "r"}, {"y"}, {integer("hidden_size", 20)}).output("y");
    return flops(read(net), {{"steps", 7}});
  };
  CHECK(cell("LSTM", 4) == std::to_string(7 * 2 * 2 * 4 * 20 * 30));
  CHECK(cell("GRU", 3) == std::to_string(7 * 2 * 2 * 3 * 20 * 30));
  CHECK(cell("RNN", 1) == std::to_string(7 * 2 * 2 * 20 * 30));
}

TEST_CASE("quantise and dequantise fold into formats", "[frontend][onnx]") {
  Net net;
  net.input("x", {1, 64})
      .weight("w", {64, 32}, onnx_test::kInt8)
      .weight("s", {})
      .weight("z", {}, onnx_test::kInt8);
  net.node("DequantizeLinear", {"w", "s", "z"}, {"wf"});
  net.node("MatMul", {"x", "wf"}, {"y"});
  net.node("QuantizeLinear", {"y", "s", "z"}, {"yq"});
  net.node("DequantizeLinear", {"yq", "s", "z"}, {"yf"});
  net.node("Relu", {"yf"}, {"out"}).output("out");
  const ir::Graph graph = read(net);
  CHECK(graph.ops().size() == 2);
  CHECK(graph.tensor(*graph.ops()[0].operands[1]).dtype->name == "int8");
  CHECK(graph.tensor(*graph.ops()[0].operands[2]).dtype->name == "int8");
  CHECK(ir::parameter_counts(graph).total == 64 * 32);
}

TEST_CASE("weights of four bits count their scales", "[frontend][onnx]") {
  Net net;
  net.input("x", {1, 1, 256}).weight("w", {512, 8, 16}, 2).weight("s", {512 * 8});
  net.node("MatMulNBits", {"x", "w", "s"}, {"y"},
           {integer("K", 256), integer("N", 512), integer("bits", 4), integer("block_size", 32)},
           "com.microsoft")
      .output("y");
  const ir::Graph graph = read(net);
  CHECK(total_flops(graph) == std::to_string(2 * 256 * 512));
  CHECK(ir::parameter_counts(graph).total == 256 * 512);
  // Half a byte an element, and 20 bits each 32.
  CHECK(ir::to_string(*ir::count(ir::weight_bytes(graph), {})) ==
        std::to_string(256 * 512 / 2 + 256 * 512 / 32 * 20 / 8));
}

TEST_CASE("a Loop's body counts as often as its trips say", "[frontend][onnx]") {
  Net body;
  body.input("i", {}, onnx_test::kInt64).input("go", {}, onnx_test::kBool).input("h", {1, 8});
  body.node("Identity", {"go"}, {"go_on"}).node("MatMul", {"h", "w"}, {"next"});
  body.output("go_on").output("next");
  Net net;
  net.input("h0", {1, 8}).weight("w", {8, 8}).scalar("trips", 6);
  net.node("Loop", {"trips", "", "h0"}, {"h"}, {onnx_test::body("body", body.graph())}, "",
           "steps");
  net.output("h");
  CHECK(total_flops(read(net)) == std::to_string(6 * 2 * 8 * 8));
  Net open;
  open.input("h0", {1, 8}).input("n", {}, onnx_test::kInt64).weight("w", {8, 8});
  open.node("Loop", {"n", "", "h0"}, {"h"}, {onnx_test::body("body", body.graph())}, "", "steps");
  open.output("h");
  const ir::Graph graph = read(open);
  REQUIRE(ir::free_symbols(graph).size() == 1);
  const std::string name = ir::free_symbols(graph)[0].name;
  const auto bound = ir::bind_symbols(graph, {{name, graph.pool().constant(9)}});
  REQUIRE(bound);
  CHECK(total_flops(*bound) == std::to_string(9 * 2 * 8 * 8));
}

TEST_CASE("an If has both branches, and its condition chooses", "[frontend][onnx]") {
  Net yes;
  yes.node("MatMul", {"x", "w"}, {"a"}).output("a");
  Net no;
  no.node("Relu", {"x"}, {"b"}).output("b");
  Net net;
  net.input("x", {4, 4}).input("use", {}, onnx_test::kBool).weight("w", {4, 4});
  net.node(
      "If", {"use"}, {"y"},
      {onnx_test::body("then_branch", yes.graph()), onnx_test::body("else_branch", no.graph())}, "",
      "choice");
  net.output("y");
  const ir::Graph graph = read(net);
  CHECK(ops_of(graph, "matmul") == 1);
  CHECK(ops_of(graph, "elementwise") == 1);
  const auto with = [&](double value) {
    return *ir::bind_symbols(graph, {{"use", graph.pool().constant(value)}});
  };
  CHECK(total_flops(with(1)) == "128");
  CHECK(total_flops(with(0)) == "0");
  CHECK(with(0).ops().size() == 1);
}

TEST_CASE("a function's nodes are inlined", "[frontend][onnx]") {
  using onnx_test::number;
  using onnx_test::text;
  // Twice(x, w) = (x w) w
  const auto call = [](const char* a, const char* b, const char* out) {
    return text(7, text(1, a) + text(1, b) + text(2, out) + text(4, "MatMul"));
  };
  const std::string function = text(1, "Twice") + text(4, "x") + text(4, "w") + text(5, "y") +
                               call("x", "w", "t") + call("t", "w", "y") + text(9, number(2, 17)) +
                               text(10, "local");
  Net net;
  net.input("x", {1, 8}).weight("w", {8, 8}).function(function);
  net.node("Twice", {"x", "w"}, {"y"}, {}, "local").output("y");
  CHECK(total_flops(read(net)) == std::to_string(2 * 2 * 8 * 8));
}

TEST_CASE("an imported graph prints and parses back", "[frontend][onnx]") {
  Net net;
  net.input("x", {"batch", 3, "height", 8}).weight("w", {4, 3, 3, 3});
  net.node("Conv", {"x", "w"}, {"y"}).node("Relu", {"y"}, {"z"}).output("z");
  const std::string printed = ir::print(read(net));
  const auto document =
      parse_yaml(std::make_shared<SourceFile>(SourceFile{.name = "test.ir.yaml", .text = printed}));
  REQUIRE(document);
  const auto parsed = ir::parse_graph(*document);
  INFO((parsed ? std::string() : render(parsed.error())));
  REQUIRE(parsed);
  CHECK(ir::print(*parsed) == printed);
}

}  // namespace mansard::frontend
