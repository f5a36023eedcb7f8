#include "ir/verify.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

/// The id of every problem, each once.
std::vector<std::string> problems_of(const Graph& graph) {
  std::vector<std::string> ids;
  for (const Diagnostic& diagnostic : verify(graph)) {
    if (std::ranges::find(ids, diagnostic.id) == ids.end()) {
      ids.push_back(diagnostic.id);
    }
  }
  return ids;
}

using Ids = std::vector<std::string>;

Op& op(Graph& graph, std::string_view name) {
  return *std::ranges::find(graph.ops(), name, &Op::name);
}
Tensor& tensor(Graph& graph, std::string_view name) {
  return *std::ranges::find(graph.tensors(), name, &Tensor::name);
}
TensorId id_of(Graph& graph, std::string_view name) {
  return static_cast<TensorId>(&tensor(graph, name) - graph.tensors().data());
}

}  // namespace

TEST_CASE("graphs of every shape verify", "[ir][verify]") {
  const std::vector<LlamaShape> shapes = {{},       {.window = 16}, {.tied = true}, kLlama31_8b,
                                          kMixtral, kLlama31_70b,   kLlama2_7b};
  for (const LlamaShape& shape : shapes) {
    const Graph graph = llama(shape);
    CHECK(render(verify(graph)).empty());
  }
  CHECK(verify(Graph()).empty());
}

TEST_CASE("two ops of one name are refused", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").name = "down";
  CHECK(problems_of(graph) == Ids{"duplicate-name"});
}

TEST_CASE("two tensors of one name are refused", "[ir][verify]") {
  Graph graph = llama({});
  tensor(graph, "qkv.out").name = "stream";
  CHECK(problems_of(graph) == Ids{"duplicate-name"});
}

TEST_CASE("a nameless block is refused", "[ir][verify]") {
  Graph graph = llama({});
  graph.add_block("", 1);
  CHECK(problems_of(graph) == Ids{"unnamed"});
}

TEST_CASE("a block must exist at least once", "[ir][verify]") {
  Graph graph = llama({});
  graph.blocks()[1].count = 0;
  CHECK(problems_of(graph) == Ids{"block-count"});
}

TEST_CASE("a block out of range is refused", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").block = static_cast<BlockId>(7);
  tensor(graph, "stream").block = static_cast<BlockId>(8);
  CHECK(problems_of(graph) == Ids{"id-range"});
}

TEST_CASE("an operand out of range is refused", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").operands[0] = static_cast<TensorId>(1000);
  CHECK(problems_of(graph) == Ids{"id-range"});
}

TEST_CASE("a tensor without a dtype is refused", "[ir][verify]") {
  Graph graph = llama({});
  tensor(graph, "stream").dtype = nullptr;
  CHECK(problems_of(graph) == Ids{"no-dtype"});
}

TEST_CASE("only weights are buffers", "[ir][verify]") {
  Graph graph = llama({});
  tensor(graph, "stream").buffer = true;
  CHECK(problems_of(graph) == Ids{"buffer-role"});
}

TEST_CASE("a weight does not depend on the workload", "[ir][verify]") {
  Graph graph = llama({});
  tensor(graph, "qkv.weight").shape[0] = graph.pool().symbol("batch");
  CHECK(problems_of(graph) == Ids{"weight-shape"});
}

TEST_CASE("a weight holds what an op reads of it", "[ir][verify]") {
  Graph graph = llama({});
  tensor(graph, "qkv.weight").shape[0] = graph.pool().constant(63);
  CHECK(problems_of(graph) == Ids{"weight-shape"});
}

TEST_CASE("an extent is whole", "[ir][verify]") {
  Graph graph = llama({});
  tensor(graph, "qkv.weight").shape[0] = graph.pool().constant(64.5);
  CHECK(problems_of(graph) == Ids{"fraction"});
}

TEST_CASE("an op without a kind is refused", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").def = nullptr;
  CHECK(problems_of(graph) == Ids{"unknown-kind"});
}

TEST_CASE("a dim must be bound", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").dims.erase("n");
  CHECK(problems_of(graph) == Ids{"unbound-dimension"});
}

TEST_CASE("an absent expression is no dim", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").dims["n"] = Expr();
  CHECK(problems_of(graph) == Ids{"unbound-dimension"});
}

TEST_CASE("a dim that the kind does not have is refused", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").dims["z"] = graph.pool().constant(1);
  CHECK(problems_of(graph) == Ids{"unknown-dimension"});
}

TEST_CASE("a dim depends on the workload only", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").dims["m"] = graph.pool().symbol("tokens");
  CHECK(problems_of(graph) == Ids{"unknown-symbol"});
}

TEST_CASE("a dim is a plain number", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").dims["m"] = graph.pool().constant(4, kByte);
  CHECK(problems_of(graph) == Ids{"expression-unit"});
}

TEST_CASE("a negative dim is refused", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").dims["m"] = graph.pool().constant(-1);
  CHECK(problems_of(graph) == Ids{"negative-count"});
}

TEST_CASE("a dim that turns negative at some workload is refused", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").dims["m"] = graph.pool().symbol("q_len") - graph.pool().symbol("context");
  CHECK(problems_of(graph) == Ids{"negative-count"});
}

TEST_CASE("a missing operand is refused", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").operands[1] = std::nullopt;
  CHECK(problems_of(graph) == Ids{"operand-missing"});
}

TEST_CASE("more operands than the kind has are refused", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").operands.resize(9);
  CHECK(problems_of(graph) == Ids{"operand-count"});
}

TEST_CASE("a weight is not written", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "qkv").operands[2] = id_of(graph, "qkv.weight");
  CHECK(problems_of(graph) == Ids{"operand-role"});
}

TEST_CASE("a cache is no activation of a norm", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "input_norm").operands[0] = id_of(graph, "kv_cache");
  CHECK(problems_of(graph) == Ids{"operand-role"});
}

TEST_CASE("an activation is written before it is read", "[ir][verify]") {
  Graph graph = llama({});
  std::swap(op(graph, "head"), op(graph, "sample"));
  CHECK(problems_of(graph) == Ids{"read-before-write"});
}

TEST_CASE("a repeated block may read what its last repetition wrote", "[ir][verify]") {
  Graph graph = llama({});
  op(graph, "input_norm").operands[0] = id_of(graph, "attention.out");
  CHECK(problems_of(graph).empty());
}

}  // namespace mansard::ir
