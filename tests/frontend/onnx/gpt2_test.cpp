#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ir/expr_text.hpp"
#include "ir/graph_totals.hpp"
#include "ir/passes/bind.hpp"
#include "ir/polynomial.hpp"
#include "tests/frontend/counting.hpp"
#include "tests/frontend/onnx/wire.hpp"

namespace mansard::frontend {
namespace {

using onnx_test::integer;
using onnx_test::Net;

constexpr std::int64_t kHidden = 32;
constexpr std::int64_t kLayers = 5;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kVocabulary = 1000;
constexpr std::int64_t kPositions = 512;

std::string at(const char* name, std::int64_t layer) {
  return fmt::format("h.{}.{}", layer, name);
}

/// GPT-2 with past as onnxruntime's tools export it: one Attention, one skip norm and one FastGelu
/// a layer's part, biases in the op after.
Net gpt2() {
  Net net;
  const std::string ms = "com.microsoft";
  net.input("input_ids", {"batch_size", "seq_len"}, 6)
      .input("position_ids", {"batch_size", "seq_len"}, 6)
      .input("attention_mask", {"batch_size", "total_seq_len"}, 6);
  net.weight("wte", {kVocabulary, kHidden}).weight("wpe", {kPositions, kHidden});
  net.weight("head", {kHidden, kVocabulary});
  for (std::int64_t i = 0; i <= kLayers; ++i) {
    net.weight(at("ln_1.w", i), {kHidden}).weight(at("ln_1.b", i), {kHidden});
  }
  net.node(
      "EmbedLayerNormalization",
      {"input_ids", "", "wte", "wpe", "", at("ln_1.w", 0), at("ln_1.b", 0), "", "position_ids"},
      {"x0", "", "sum0"}, {}, ms, "embed");
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string past = fmt::format("past_{}", i);
    net.input(past, {2, "batch_size", kHeads, "past_seq_len", kHidden / kHeads});
    net.weight(at("qkv", i), {kHidden, 3 * kHidden}).weight(at("qkv.b", i), {3 * kHidden});
    net.weight(at("proj", i), {kHidden, kHidden}).weight(at("proj.b", i), {kHidden});
    net.weight(at("ln_2.w", i), {kHidden}).weight(at("ln_2.b", i), {kHidden});
    net.weight(at("fc", i), {kHidden, 4 * kHidden}).weight(at("fc.b", i), {4 * kHidden});
    net.weight(at("out", i), {4 * kHidden, kHidden}).weight(at("out.b", i), {kHidden});
    const auto here = [&](const char* name) { return at(name, i); };
    const std::string x = fmt::format("x{}", i);
    const std::string sum = fmt::format("sum{}", i);
    net.node("Attention", {x, here("qkv"), here("qkv.b"), "attention_mask", past},
             {here("mixed"), fmt::format("present_{}", i)},
             {integer("num_heads", kHeads), integer("unidirectional", 1)}, ms);
    net.node("MatMul", {here("mixed"), here("proj")}, {here("projected")});
    net.node("SkipLayerNormalization",
             {here("projected"), sum, here("ln_2.w"), here("ln_2.b"), here("proj.b")},
             {here("normed"), "", "", here("sum")}, {}, ms);
    net.node("MatMul", {here("normed"), here("fc")}, {here("wide")});
    net.node("FastGelu", {here("wide"), here("fc.b")}, {here("active")}, {}, ms);
    net.node("MatMul", {here("active"), here("out")}, {here("narrow")});
    net.node("SkipLayerNormalization",
             {here("narrow"), here("sum"), at("ln_1.w", i + 1), at("ln_1.b", i + 1), here("out.b")},
             {fmt::format("x{}", i + 1), "", "", fmt::format("sum{}", i + 1)}, {}, ms);
    net.output(fmt::format("present_{}", i));
  }
  net.node("MatMul", {fmt::format("x{}", kLayers), "head"}, {"logits"}).output("logits");
  return net.opset(11);
}

constexpr const char* kConfig = R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
  "n_embd": 32, "n_layer": 5, "n_head": 4, "n_positions": 512, "vocab_size": 1000,
  "tie_word_embeddings": false, "torch_dtype": "float32"})";

ir::Graph in_workload(ir::Graph graph) {
  const ir::SymbolValues meaning = ir::workload_meaning(graph);
  auto bound = ir::bind_symbols(std::move(graph), meaning);
  REQUIRE(bound);
  REQUIRE(ir::free_symbols(*bound).empty());
  return std::move(*bound);
}

/// In one pool and one form, so that equal expressions are one.
ir::Expr normal(ir::Expr e, ir::ExprPool& pool) {
  return ir::canonical(ir::substitute(e, pool, [&](const ir::ExprNode& node) {
    return node.symbol == "q_len" ? pool.constant(1) : ir::Expr();
  }));
}

}  // namespace

TEST_CASE("GPT-2 with past is its config.json, symbol for symbol", "[frontend][onnx]") {
  const auto read = gpt2().import();
  INFO((read ? std::string() : render(read.error())));
  REQUIRE(read);
  const ir::Graph file = in_workload(*read);
  const auto config = import_text(kConfig);
  REQUIRE(config);
  CHECK(ir::parameter_counts(file).total == ir::parameter_counts(*config).total);
  ir::ExprPool pool;
  const ir::GraphTotals ours = ir::totals(file);
  const ir::GraphTotals theirs = ir::totals(*config);
  // In decode: the file computes logits of every new token, a config's graph of the last one.
  CHECK(ir::print(normal(ours.flops, pool)) == ir::print(normal(theirs.flops, pool)));
  CHECK(normal(ours.flops, pool) == normal(theirs.flops, pool));
  CHECK(normal(ir::kv_bytes(file), pool) == normal(ir::kv_bytes(*config), pool));
  CHECK(kv_growth(file) == kv_growth(*config));
  for (const char* kind : {"matmul", "attention"}) {
    for (const double context : {1.0, 17.0, 512.0}) {
      const ir::Bindings workload = step(Phase::kDecode, 3, context);
      ir::Count file_bytes = 0;
      ir::Count config_bytes = 0;
      const auto add = [&](const ir::Graph& graph, ir::Count& sum) {
        for (const ir::Op& op : graph.ops()) {
          for (std::size_t i = 0; op.def->name == kind && i < op.operands.size(); ++i) {
            sum +=
                graph.block(op.block).count * *ir::count(ir::operand_bytes(graph, op, i), workload);
          }
        }
      };
      add(file, file_bytes);
      add(*config, config_bytes);
      CHECK(ir::to_string(file_bytes) == ir::to_string(config_bytes));
    }
  }
}

TEST_CASE("prefill of GPT-2's file adds only the logits of all tokens", "[frontend][onnx]") {
  const ir::Graph file = in_workload(*gpt2().import());
  const auto config = import_text(kConfig);
  const ir::Bindings workload{{"batch", 2}, {"q_len", 64}, {"context", 192}};
  const std::int64_t logits = 2LL * 2 * (64 - 1) * kHidden * kVocabulary;
  CHECK(std::stoll(flops(file, workload)) - std::stoll(flops(*config, workload)) == logits);
}

TEST_CASE("the published tiny GPT-2 counts as its config.json", "[frontend][onnx]") {
  if (shared_folder() == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  const auto read = import_model(
      std::string(shared_folder()) +
          "/data/samples/onnx/ortgenai__hf-internal-testing__tiny-random-gpt2-fp32__past.onnx",
      Phase::kDecode);
  REQUIRE(read);
  const ir::Graph file = in_workload(*read);
  const auto config = import_text(kConfig);
  ir::ExprPool pool;
  CHECK(normal(ir::totals(file).flops, pool) == normal(ir::totals(*config).flops, pool));
  CHECK(normal(ir::kv_bytes(file), pool) == normal(ir::kv_bytes(*config), pool));
  CHECK(ir::parameter_counts(file).total == 142112);  // Equal tensors stand once in the file.
}

}  // namespace mansard::frontend
