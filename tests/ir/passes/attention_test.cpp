#include <catch2/catch.hpp>

#include "ir/graph_totals.hpp"
#include "ir/passes/passes.hpp"
#include "ir/verify.hpp"
#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

std::int64_t total(const Graph& graph, Expr GraphTotals::* what, const Bindings& at) {
  return std::stoll(exact(totals(graph).*what, at));
}

}  // namespace

TEST_CASE("unfused attention keeps the FLOP of a decode step", "[ir][passes]") {
  for (const LlamaShape& shape : {LlamaShape{}, kLlama31_8b, LlamaShape{.window = 16}}) {
    const Graph fused = llama(shape);
    const Graph unfused = *set_attention(llama(shape), AttentionForm::kUnfused);
    CHECK(render(verify(unfused)).empty());
    CHECK(total(unfused, &GraphTotals::flops, decode(5, 300)) ==
          total(fused, &GraphTotals::flops, decode(5, 300)));
  }
}

TEST_CASE("unfused attention in prefill computes masked pairs too, and says so", "[ir][passes]") {
  const Graph fused = llama(kLlama31_8b);
  const Graph unfused = *set_attention(llama(kLlama31_8b), AttentionForm::kUnfused);
  const std::int64_t masked = 32LL * 2 * 32 * 256 * (2048LL * 2047 / 2);
  CHECK(total(unfused, &GraphTotals::flops, prefill(1, 2048)) -
            total(fused, &GraphTotals::flops, prefill(1, 2048)) ==
        masked);
  CHECK_THAT(unfused.facts.notes.back(), Catch::Contains("masked pairs"));
}

TEST_CASE("unfused attention moves its scores four times", "[ir][passes]") {
  // Written by QK^T, read and written by softmax, read by PV: 4 * 32 heads * S^2 of bf16.
  const Graph fused = llama(kLlama2_7b);
  const Graph unfused = *set_attention(llama(kLlama2_7b), AttentionForm::kUnfused);
  CHECK(total(unfused, &GraphTotals::bytes, prefill(1, 2048)) -
            total(fused, &GraphTotals::bytes, prefill(1, 2048)) ==
        32LL * 4 * 32 * 2048 * 2048 * 2);
}

TEST_CASE("unfused attention reads keys and values of the KV heads only", "[ir][passes]") {
  const Graph unfused = *set_attention(llama(kLlama31_8b), AttentionForm::kUnfused);
  const Op& scores = op_named(unfused, "attention.scores");
  CHECK(exact(unfused.instantiate(scores, scores.def->operands[1].touched), decode(3, 100)) ==
        std::to_string(3 * 8 * 100 * 128));
}

TEST_CASE("fused attention stays as it is", "[ir][passes]") {
  const Graph graph = *set_attention(llama({}), AttentionForm::kFused);
  CHECK(number_of(graph, "attention") == 1);
  CHECK(graph.facts.notes.empty());
}

TEST_CASE("query heads that do not share KV heads evenly are refused", "[ir][passes]") {
  Graph graph = llama({});
  for (Op& op : graph.ops()) {
    if (op.name == "attention") {
      op.dims["g"] = graph.pool().constant(3);
    }
  }
  const Result<Graph> unfused = set_attention(std::move(graph), AttentionForm::kUnfused);
  REQUIRE_FALSE(unfused);
  CHECK(unfused.error().front().message ==
        "8 query heads of 'attention' do not share 3 KV heads evenly");
}

}  // namespace mansard::ir
