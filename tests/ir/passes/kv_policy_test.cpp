#include <catch2/catch.hpp>

#include "ir/graph_totals.hpp"
#include "ir/passes/passes.hpp"
#include "ir/verify.hpp"
#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

Graph with(const KvPolicy& policy, const LlamaShape& shape = kLlama31_8b) {
  const Result<Graph> graph = set_kv_policy(llama(shape), policy);
  REQUIRE(graph);
  CHECK(render(verify(*graph)).empty());
  return *graph;
}

std::string flops(const Graph& graph, const Bindings& at) {
  return exact(totals(graph).flops, at);
}

}  // namespace

TEST_CASE("pages are allocated whole", "[ir][passes]") {
  const Graph graph = with({.page = 16});
  CHECK(exact(kv_bytes(graph), decode(1, 1)) == std::to_string(16 * 131072));
  CHECK(exact(kv_bytes(graph), decode(3, 17)) == std::to_string(3 * 32 * 131072));
  CHECK(flops(graph, decode(3, 17)) == flops(llama(kLlama31_8b), decode(3, 17)));
}

TEST_CASE("a window on every layer is as if the model had it", "[ir][passes]") {
  LlamaShape windowed = kLlama31_8b;
  windowed.window = 1000;
  for (const Bindings& at : {decode(2, 500), decode(2, 5000), prefill(1, 3000)}) {
    CHECK(flops(with({.window = 1000}), at) == flops(llama(windowed), at));
    CHECK(exact(kv_bytes(with({.window = 1000})), at) == exact(kv_bytes(llama(windowed)), at));
  }
}

TEST_CASE("a smaller window of the model stays", "[ir][passes]") {
  LlamaShape windowed = kLlama31_8b;
  windowed.window = 100;
  CHECK(flops(with({.window = 1000}, windowed), decode(2, 5000)) ==
        flops(llama(windowed), decode(2, 5000)));
}

TEST_CASE("two layers that share a cache halve it", "[ir][passes]") {
  const Graph graph = with({.share_layers = 2});
  CHECK(exact(kv_bytes_per_token(graph), decode(1, 2048)) == "65536");
  CHECK(flops(graph, decode(1, 2048)) == flops(llama(kLlama31_8b), decode(1, 2048)));
}

TEST_CASE("a common prefix is stored and read once, at the same FLOP", "[ir][passes]") {
  const Graph plain = llama(kLlama31_8b);
  const Graph graph = with({.prefix = 1000});
  CHECK(flops(graph, decode(64, 1500)) == flops(plain, decode(64, 1500)));
  // 1000 tokens once and 500 for each of 64 sequences.
  CHECK(exact(kv_bytes(graph), decode(64, 1500)) == std::to_string(131072LL * (1000 + 64LL * 500)));
  const auto read = [](const Graph& g) {
    std::int64_t bytes = 0;
    for (const Op& op : g.ops()) {
      if (op.def->name == "attention") {
        bytes +=
            std::stoll(exact(operand_bytes(g, op, 1) + operand_bytes(g, op, 2), decode(64, 1500)));
      }
    }
    return bytes;
  };
  CHECK(read(plain) == 64LL * 1500 * 4096);
  CHECK(read(graph) == (1000 + 64LL * 500) * 4096);
}

TEST_CASE("a prefix longer than the past is the past", "[ir][passes]") {
  const Graph graph = with({.prefix = 1000});
  CHECK(flops(graph, decode(4, 100)) == flops(llama(kLlama31_8b), decode(4, 100)));
  CHECK(flops(graph, prefill(4, 100)) == flops(llama(kLlama31_8b), prefill(4, 100)));
}

TEST_CASE("policies that make no sense are refused", "[ir][passes]") {
  CHECK_FALSE(set_kv_policy(llama({}), {.page = -1}));
  CHECK_FALSE(set_kv_policy(llama({}), {.share_layers = 0}));
  CHECK_FALSE(set_kv_policy(llama({}), {.window = 10, .prefix = 10}));
}

}  // namespace mansard::ir
