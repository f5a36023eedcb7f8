#include "ir/graph.hpp"

#include <catch2/catch.hpp>

#include "ir/graph_totals.hpp"
#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

std::string flops(const LlamaShape& shape, const Bindings& at) {
  return exact(totals(llama(shape)).flops, at);
}

}  // namespace

TEST_CASE("decode FLOP of a step are those of the published models", "[ir][graph]") {
  // Batch 1, context 2048, head included (issue 2).
  CHECK(flops(kLlama2_7b, decode(1, 2048)) == "14287896576");
  CHECK(flops(kLlama31_8b, decode(1, 2048)) == "16083058688");
  CHECK(flops(kLlama31_70b, decode(1, 2048)) == "144372137984");
}

TEST_CASE("prefill FLOP count causal pairs and logits of the last token", "[ir][graph]") {
  CHECK(flops(kLlama31_8b, prefill(1, 2048)) == "29688401494016");
  CHECK(flops(kLlama31_70b, prefill(1, 2048)) == "285877808922624");
}

TEST_CASE("matmul weights are read once a step", "[ir][graph]") {
  // Llama-3.1-8B, bf16; norm gains (65 x 4096) and one row of the embedding besides.
  const std::string bytes = exact(totals(llama(kLlama31_8b)).weight_bytes, decode(1, 2048));
  CHECK(bytes == std::to_string(15009316864LL + 2LL * 65 * 4096 + 2LL * 4096));
}

TEST_CASE("parameters are those of the checkpoints", "[ir][graph]") {
  CHECK(parameter_counts(llama(kLlama2_7b)).total == 6738415616);  // TransformerLens#448
  CHECK(parameter_counts(llama(kLlama31_8b)).total == 8030261248);
  CHECK(parameter_counts(llama(kLlama31_8b)).active == 8030261248);
  CHECK(parameter_counts(llama(kLlama31_8b)).active_without_embedding ==
        8030261248 - 128256LL * 4096);
}

TEST_CASE("a mixture of experts is active in the experts that one token takes", "[ir][graph]") {
  // Mixtral 8x7B (vllm-fit#27): 46702792704 of which 12879925248 active.
  const ParameterCounts counts = parameter_counts(llama(kMixtral));
  CHECK(counts.total == 46702792704);
  CHECK(counts.active == 12879925248);
  CHECK(counts.active_without_embedding == 12879925248 - 32000LL * 4096);
}

TEST_CASE("a tied head counts its weights once and its FLOP still", "[ir][graph]") {
  // torchtitan#3225, trl#6709, transformers#14960.
  LlamaShape tied = kLlama31_8b;
  tied.tied = true;
  const ParameterCounts counts = parameter_counts(llama(tied));
  CHECK(counts.total == 8030261248 - 128256LL * 4096);
  CHECK(counts.active_without_embedding == counts.total);
  CHECK(flops(tied, decode(1, 2048)) == "16083058688");
}

TEST_CASE("a learned position table is no token embedding", "[ir][graph]") {
  Graph graph = llama({.vocabulary = 1000});
  const std::int64_t without = parameter_counts(graph).active_without_embedding;
  const TensorId table =
      graph.add_tensor({.name = "positions",
                        .role = Role::kWeight,
                        .dtype = find_dtype("bf16"),
                        .shape = {graph.pool().constant(512), graph.pool().constant(64)}});
  graph.add_op({.name = "positions",
                .def = find_op("embedding"),
                .dims = {{"t", graph.pool().constant(1)},
                         {"c", graph.pool().constant(64)},
                         {"n", graph.pool().constant(512)}},
                .operands = {table, TensorId{}}});
  CHECK(parameter_counts(graph).active_without_embedding == without + 512LL * 64);
}

TEST_CASE("buffers are stored but are no parameters", "[ir][graph]") {
  Graph graph = llama({});
  const std::int64_t before = parameter_counts(graph).total;
  const std::string bytes = exact(weight_bytes(graph));
  graph.add_tensor({.name = "rotary",
                    .role = Role::kWeight,
                    .dtype = find_dtype("fp32"),
                    .shape = {graph.pool().constant(100)},
                    .buffer = true});
  CHECK(parameter_counts(graph).total == before);
  CHECK(exact(weight_bytes(graph)) == std::to_string(std::stoll(bytes) + 400));
}

TEST_CASE("a linear shared three times works three times and is stored once", "[ir][graph]") {
  // DeepSpeed#7256: 3 * 2 * 100 * 100 = 60 K FLOP, 10 K parameters.
  Graph graph;
  ExprPool& pool = graph.pool();
  const BlockId block = graph.add_block("model", 1);
  const auto tensor = [&](std::string name, Role role, std::vector<Expr> shape) {
    return graph.add_tensor({.name = std::move(name),
                             .role = role,
                             .dtype = find_dtype("fp32"),
                             .shape = std::move(shape),
                             .block = block});
  };
  const TensorId w = tensor("w", Role::kWeight, {pool.constant(100), pool.constant(100)});
  const TensorId x = tensor("x", Role::kActivation, {pool.constant(1), pool.constant(100)});
  for (const char* name : {"first", "second", "third"}) {
    graph.add_op({.name = name,
                  .def = find_op("matmul"),
                  .block = block,
                  .dims = {{"b", pool.constant(1)},
                           {"m", pool.constant(1)},
                           {"n", pool.constant(100)},
                           {"k", pool.constant(100)}},
                  .operands = {x, w, x}});
  }
  CHECK(exact(totals(graph).flops) == "60000");
  CHECK(parameter_counts(graph).total == 10000);
}

TEST_CASE("twice the prompt takes more than twice the FLOP", "[ir][graph]") {
  // calculate-flops#48: the attention term was missing, the ratio exactly 2.
  const Graph graph = llama(kLlama31_8b);
  const Expr work = totals(graph).flops;
  const double once = value(work, prefill(1, 8192));
  const double twice = value(work, prefill(1, 16384));
  CHECK(twice / once > 2);
  // Beyond the terms linear in tokens, 4 S^2 d L quadruples (causal: half of it).
  const double head = 2.0 * 128256 * 4096;
  const double linear = (2 * (once - head) - (twice - head));
  CHECK(linear == -(32.0 * 2 * 32 * 256) * (16384.0 * 16385 / 2 - 8192.0 * 8193));
}

TEST_CASE("a window bounds attention FLOP and cache", "[ir][graph]") {
  // torchtitan#4300: windows must be honoured. Mistral-7B v0.1 at 8192 tokens, window 4096.
  LlamaShape windowed = kLlama31_8b;
  windowed.window = 4096;
  const Graph graph = llama(windowed);
  const std::int64_t difference = std::stoll(flops(kLlama31_8b, decode(1, 8192))) -
                                  std::stoll(exact(totals(graph).flops, decode(1, 8192)));
  CHECK(difference == 32LL * 2 * 32 * 256 * 4096);
  CHECK(exact(kv_bytes(graph), decode(1, 8192)) == std::to_string(131072LL * 4096));
  CHECK(exact(kv_bytes_per_token(graph), decode(1, 8192)) == "0");
  CHECK(exact(kv_bytes_per_token(graph), decode(1, 4096)) == "131072");
}

TEST_CASE("KV bytes per token are those of the published models", "[ir][graph]") {
  CHECK(exact(kv_bytes_per_token(llama(kLlama2_7b)), decode(9, 2048)) == "524288");
  CHECK(exact(kv_bytes_per_token(llama(kLlama31_8b)), decode(9, 2048)) == "131072");
  CHECK(exact(kv_bytes_per_token(llama(kLlama31_70b)), decode(9, 2048)) == "327680");
}

TEST_CASE("a cache of 32768 tokens of Llama-3.1-70B is 10 GiB", "[ir][graph]") {
  // Vx#303: 80 GiB with query heads.
  CHECK(exact(kv_bytes(llama(kLlama31_70b)), decode(1, 32768)) == std::to_string(10LL << 30));
}

TEST_CASE("dims that an op leaves unbound have their defaults", "[ir][graph]") {
  const Graph graph = llama({});
  const Op& down = op_named(graph, "down");
  CHECK(exact(graph.instantiate(down, down.def->vector_flops), decode(1, 8)) == "0");
  CHECK_FALSE(graph.instantiate(down, Expr()));
}

}  // namespace mansard::ir
