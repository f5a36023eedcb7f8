#include <catch2/catch.hpp>

#include "ir/graph_text.hpp"
#include "ir/graph_totals.hpp"
#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"
#include "ir/verify.hpp"
#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

Graph sharded(const LlamaShape& shape, const Parallelism& parallelism) {
  const Result<Graph> graph = shard(llama(shape), parallelism);
  if (!graph) {
    FAIL(render(graph.error()));
  }
  CHECK(render(verify(*graph)).empty());
  return *graph;
}

std::string refusal(const LlamaShape& shape, const Parallelism& parallelism) {
  const Result<Graph> graph = shard(llama(shape), parallelism);
  return graph ? "" : graph.error().front().message;
}

std::int64_t flops(const Graph& graph, const Bindings& at) {
  return std::stoll(exact(totals(graph).flops, at));
}

std::int64_t sent(const Graph& graph, const Bindings& at) {
  return std::stoll(exact(totals(graph).link_elements, at));
}

}  // namespace

TEST_CASE("the ranks of tensor parallelism together do the FLOP of the whole", "[ir][passes]") {
  for (const std::int64_t tp : {2, 4, 8}) {
    CAPTURE(tp);
    const Graph rank = sharded(kLlama31_8b, {.tp = tp});
    const Graph whole = llama(kLlama31_8b);
    CHECK(tp * flops(rank, decode(3, 2048)) == flops(whole, decode(3, 2048)));
    CHECK(tp * flops(rank, prefill(1, 512)) == flops(whole, prefill(1, 512)));
  }
}

TEST_CASE("each rank holds its share of weights and cache", "[ir][passes]") {
  const Graph rank = sharded(kLlama31_8b, {.tp = 8});
  // Everything but the norm gains (65 x 4096) is divided.
  const std::int64_t gains = 65LL * 4096;
  CHECK(std::stoll(exact(weight_bytes(rank))) == 2 * ((8030261248 - gains) / 8 + gains));
  CHECK(exact(kv_bytes_per_token(rank), decode(1, 2048)) == std::to_string(131072 / 8));
}

TEST_CASE("a dense layer needs two all-reduces, embedding and head one collective each",
          "[ir][passes]") {
  const Graph rank = sharded(kLlama31_8b, {.tp = 4});
  CHECK(number_of(rank, "all_reduce") == 3);
  CHECK(number_of(rank, "all_gather") == 1);
  // Megatron-LM, section 3: 2 (p-1)/p of tokens x hidden per all-reduce; 65 of them, and logits.
  CHECK(sent(rank, decode(16, 2048)) == 65LL * 16 * 4096 * 3 / 2 + 16LL * 128256 * 3 / 4);
}

TEST_CASE("an all-reduce stands before the norm that needs the sum", "[ir][passes]") {
  const Graph rank = sharded(kLlama31_8b, {.tp = 2});
  std::vector<std::string> names;
  for (const Op& op : rank.ops()) {
    names.push_back(op.name);
  }
  CHECK(names == std::vector<std::string>{"embedding", "embedding.all_reduce", "input_norm", "qkv",
                                          "rope", "kv_write", "attention", "output",
                                          "output.all_reduce", "mlp_norm", "gate_up", "activation",
                                          "down", "down.all_reduce", "final_norm", "head",
                                          "head.all_gather", "sample"});
}

TEST_CASE("a sharded graph prints and parses back", "[ir][passes]") {
  const std::string text = print(sharded(kMixtral, {.tp = 4, .dp = 2}));
  const auto file = std::make_shared<const SourceFile>(SourceFile{"rank.ir.yaml", text});
  const Result<Graph> back =
      parse_yaml(file).and_then([](const Node& node) { return parse_graph(node); });
  REQUIRE(back);
  CHECK(print(*back) == text);
}

TEST_CASE("one rank of one is the whole", "[ir][passes]") {
  CHECK(print(sharded(kLlama31_8b, {})) == print(llama(kLlama31_8b)));
}

TEST_CASE("fewer KV heads than ranks are replicated and noted", "[ir][passes]") {
  const Graph rank = sharded(kLlama31_8b, {.tp = 16});
  CHECK(exact(dim_of(rank, op_named(rank, "attention"), "g")) == "1");
  CHECK(exact(dim_of(rank, op_named(rank, "attention"), "h")) == "2");
  // Two query heads, one key and one value head of 128 each.
  CHECK(exact(dim_of(rank, op_named(rank, "qkv"), "n")) == "512");
  CHECK(exact(dim_of(rank, op_named(rank, "rope"), "r"), decode(5, 9)) == "15");
  CHECK(exact(dim_of(rank, op_named(rank, "kv_write"), "n"), decode(5, 9)) == "1280");
  CHECK(exact(kv_bytes_per_token(rank), decode(1, 2048)) == std::to_string(131072 / 8));
  CHECK(exact(rank.elements(tensor_named(rank, "qkv.weight"))) == std::to_string(4096 * 512));
  REQUIRE(rank.facts.notes.size() == 1);
  CHECK(rank.facts.notes[0] == "8 KV heads are replicated over 16 ranks: each holds one");
}

TEST_CASE("a single KV head is on every rank", "[ir][passes]") {
  LlamaShape shape;
  shape.kv_heads = 1;
  const Graph rank = sharded(shape, {.tp = 4});
  CHECK(exact(dim_of(rank, op_named(rank, "qkv"), "n")) == std::to_string((2 + 1 + 1) * 8));
  CHECK(rank.facts.notes[0] == "1 KV heads are replicated over 4 ranks: each holds one");
}

TEST_CASE("heads that do not divide are refused by name and numbers", "[ir][passes]") {
  CHECK(refusal(kLlama31_8b, {.tp = 3}) ==
        "'attention' cannot be split over tp 3: its 32 h (query heads) do not divide");
}

TEST_CASE("every refusal names the op", "[ir][passes]") {
  const Result<Graph> graph = shard(llama(kLlama31_8b), {.tp = 12});
  REQUIRE_FALSE(graph);
  std::string all;
  for (const Diagnostic& problem : graph.error()) {
    all += problem.message + "\n";
  }
  CHECK_THAT(all,
             Catch::Contains("'attention' cannot be split over tp 12: its 32 h (query heads)"));
}

TEST_CASE("degrees below one are refused", "[ir][passes]") {
  CHECK(refusal({}, {.tp = 0}) == "tp is 0, expected at least 1");
  CHECK(refusal({}, {.dp = -1}) == "dp is -1, expected at least 1");
  CHECK_THAT(refusal({}, {.sequence = true}), Catch::Contains("tp of at least 2"));
}

TEST_CASE("a vocabulary that does not divide is padded and noted", "[ir][passes]") {
  LlamaShape gpt2;
  gpt2.vocabulary = 50257;
  const Graph rank = sharded(gpt2, {.tp = 2});
  CHECK(exact(dim_of(rank, op_named(rank, "head"), "n")) == "25129");
  CHECK_THAT(rank.facts.notes[0], Catch::Contains("50257 n of 'embedding' are padded to 25129"));
}

TEST_CASE("a tied table is divided once", "[ir][passes]") {
  LlamaShape tied;
  tied.tied = true;
  const Graph rank = sharded(tied, {.tp = 2});
  CHECK(exact(rank.elements(tensor_named(rank, "embedding.weight"))) == std::to_string(500 * 64));
}

TEST_CASE("parameters of a split elementwise op follow its outputs", "[ir][passes]") {
  Graph graph = llama({});
  ExprPool& pool = graph.pool();
  const auto gain = [&](std::string name, double elements) {
    return graph.add_tensor({.name = std::move(name),
                             .role = Role::kWeight,
                             .dtype = find_dtype("bf16"),
                             .shape = {pool.constant(elements)},
                             .block = static_cast<BlockId>(1)});
  };
  const Op activation = op_named(graph, "activation");
  for (const auto& [name, elements] : {std::pair{"wide", 160.0}, std::pair{"shared", 8.0}}) {
    Op gated = activation;
    gated.name = name;
    set_operand(gated, "y", gain(std::string(name) + ".gain", elements));
    graph.add_op(std::move(gated));
  }
  const Graph rank = *shard(std::move(graph), {.tp = 4});
  CHECK(exact(rank.elements(tensor_named(rank, "wide.gain"))) == "40");
  CHECK(exact(rank.elements(tensor_named(rank, "shared.gain"))) == "8");
}

TEST_CASE("replicas share the batch", "[ir][passes]") {
  const Graph rank = sharded(kLlama31_8b, {.dp = 4});
  CHECK(flops(rank, decode(64, 512)) == flops(llama(kLlama31_8b), decode(16, 512)));
  CHECK(flops(rank, decode(65, 512)) == flops(llama(kLlama31_8b), decode(17, 512)));
  CHECK(exact(kv_bytes(rank), decode(64, 512)) ==
        exact(kv_bytes(llama(kLlama31_8b)), decode(16, 512)));
  CHECK(number_of(rank, "all_reduce") == 0);
}

TEST_CASE("without expert parallelism experts are split in width", "[ir][passes]") {
  const Graph rank = sharded(kMixtral, {.tp = 4});
  CHECK(4 * flops(rank, decode(3, 100)) ==
        flops(llama(kMixtral), decode(3, 100)) + 3LL * 32 * 2 * 3 * 4096 * 8);  // the router
  CHECK(exact(rank.elements(tensor_named(rank, "experts.gate_up.weight"))) ==
        std::to_string(8LL * 4096 * 2 * 14336 / 4));
  CHECK(exact(rank.elements(tensor_named(rank, "experts.down.weight"))) ==
        std::to_string(8LL * 14336 * 4096 / 4));
  // One all-reduce of the combined tokens, not of the rows of every expert.
  CHECK(op_named(rank, "combine.all_reduce").def->name == "all_reduce");
  CHECK(exact(dim_of(rank, op_named(rank, "combine.all_reduce"), "n"), decode(3, 100)) ==
        std::to_string(3 * 4096));
  CHECK(number_of(rank, "all_reduce") == 3);
}

TEST_CASE("expert parallelism gives each rank its experts and their rows", "[ir][passes]") {
  const Graph rank = sharded(kMixtral, {.ep = 8, .dp = 8});
  const Op& down = op_named(rank, "experts.down");
  CHECK(exact(dim_of(rank, down, "e")) == "1");
  CHECK(exact(dim_of(rank, down, "l")) == "1");
  // 64 sequences, two experts each: 128 rows over 8 ranks.
  CHECK(exact(dim_of(rank, down, "m"), decode(64, 100)) == "16");
  CHECK(exact(dim_of(rank, op_named(rank, "experts.activation"), "n"), decode(64, 100)) ==
        std::to_string(16 * 14336));
  CHECK(exact(rank.elements(tensor_named(rank, "experts.down.weight"))) ==
        std::to_string(14336LL * 4096));
  // The one expert of a rank is missed by a token with 3/4.
  CHECK(value(dim_of(rank, down, "u"), decode(16, 100)) == Approx(1 - std::pow(0.75, 16)));
}

TEST_CASE("rows go to their experts and come back", "[ir][passes]") {
  const Graph rank = sharded(kMixtral, {.ep = 8, .dp = 8});
  CHECK(number_of(rank, "all_to_all") == 2);
  CHECK(exact(dim_of(rank, op_named(rank, "experts.gate_up.dispatch"), "n"), decode(64, 100)) ==
        std::to_string(16 * 4096));
  CHECK(exact(dim_of(rank, op_named(rank, "combine.x.return"), "n"), decode(64, 100)) ==
        std::to_string(16 * 4096));
}

TEST_CASE("expert and data parallel ranks together do the FLOP of the whole", "[ir][passes]") {
  const Graph rank = sharded(kMixtral, {.ep = 8, .dp = 8});
  CHECK(8 * flops(rank, decode(64, 100)) == flops(llama(kMixtral), decode(64, 100)));
  const Graph both = sharded(kMixtral, {.tp = 2, .ep = 8, .dp = 4});
  const std::int64_t router = 2LL * 64 * 4096 * 8 * 32;  // on both tensor-parallel ranks
  CHECK(8 * flops(both, decode(64, 100)) == flops(llama(kMixtral), decode(64, 100)) + router);
  CHECK(number_of(both, "all_gather") == 2);  // logits, and tokens after the experts
}

TEST_CASE("experts that do not divide over ranks are refused", "[ir][passes]") {
  CHECK(refusal(kMixtral, {.ep = 3, .dp = 3}) ==
        "8 experts of 'experts.gate_up' cannot be split over ep 3");
  CHECK_THAT(refusal(kMixtral, {.ep = 8}), Catch::Contains("to divide tp x dp"));
  CHECK_THAT(refusal(kMixtral, {.tp = 8, .ep = 4}), Catch::Contains("multiple of tp"));
}

TEST_CASE("expert parameters multiply by EP, the others by DP", "[ir][passes]") {
  // DeepSpeed#3619.
  const Graph whole = llama(kMixtral);
  const Graph rank = sharded(kMixtral, {.ep = 8, .dp = 8});
  const std::int64_t experts = 32LL * 8 * 3 * 4096 * 14336;
  const std::int64_t dense = parameter_counts(whole).total - experts;
  CHECK(8 * parameter_counts(rank).total == experts + 8 * dense);
}

TEST_CASE("context parallelism divides keys, cache and pairs", "[ir][passes]") {
  const Graph rank = sharded(kLlama31_8b, {.cp = 4});
  const Graph whole = llama(kLlama31_8b);
  CHECK(4 * std::stoll(exact(kv_bytes(rank), decode(2, 4096))) ==
        std::stoll(exact(kv_bytes(whole), decode(2, 4096))));
  const std::int64_t attention = 32LL * 2 * 2 * 32 * 256 * 4096;
  CHECK(flops(whole, decode(2, 4096)) - flops(rank, decode(2, 4096)) == attention * 3 / 4);
  CHECK(number_of(rank, "all_reduce") == 1);
}

TEST_CASE("sequence parallelism sends what all-reduces would", "[ir][passes]") {
  const Graph rank = sharded(kLlama31_8b, {.tp = 4, .sequence = true});
  const Graph plain = sharded(kLlama31_8b, {.tp = 4});
  CHECK(number_of(rank, "all_reduce") == 0);
  CHECK(number_of(rank, "reduce_scatter") == 3);
  CHECK(flops(rank, prefill(1, 512)) == flops(plain, prefill(1, 512)));
  // The head gathers the last token only, where the last all-reduce took all 512.
  CHECK(sent(plain, prefill(1, 512)) - sent(rank, prefill(1, 512)) == 511LL * 4096 * 3 / 4);
}

TEST_CASE("sequence parallelism divides norms and the residual stream", "[ir][passes]") {
  const Graph rank = sharded(kLlama31_8b, {.tp = 4, .sequence = true});
  CHECK(exact(dim_of(rank, op_named(rank, "mlp_norm"), "r"), prefill(1, 512)) == "128");
  CHECK(exact(rank.elements(tensor_named(rank, "residual")), prefill(1, 512)) ==
        std::to_string(128 * 4096));
  CHECK(exact(dim_of(rank, op_named(rank, "gate_up"), "m"), prefill(1, 512)) == "512");
}

}  // namespace mansard::ir
