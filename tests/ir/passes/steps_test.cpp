#include <catch2/catch.hpp>

#include "ir/graph_totals.hpp"
#include "ir/passes/passes.hpp"
#include "ir/verify.hpp"
#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

double touched(const Graph& graph, std::string_view op, const Bindings& at) {
  return value(op_named(graph, op).dims.at("u"), at);
}

}  // namespace

TEST_CASE("uniform routing touches E (1 - (1 - k/E)^T) experts", "[ir][passes]") {
  const Graph graph = *route(llama(kMixtral), {});
  CHECK(touched(graph, "experts.down", decode(1, 10)) == Approx(2));
  CHECK(touched(graph, "experts.down", decode(4, 10)) == Approx(8 * (1 - std::pow(0.75, 4))));
  CHECK(touched(graph, "experts.down", decode(512, 10)) == Approx(8));
}

TEST_CASE("routing to all experts touches all", "[ir][passes]") {
  const Graph graph = *route(llama({.experts = 4, .top_k = 4}), {});
  CHECK(touched(graph, "experts.down", decode(1, 10)) == 4);
}

TEST_CASE("a given number of experts is taken, within what there is", "[ir][passes]") {
  const Graph graph = *route(llama(kMixtral), {.touched = 3});
  CHECK(exact(op_named(graph, "experts.down").dims.at("u")) == "3");
  CHECK_FALSE(route(llama(kMixtral), {.touched = 9}));
  CHECK_FALSE(route(llama(kMixtral), {.touched = 0}));
}

TEST_CASE("a verifying step has draft + 1 tokens, each with logits", "[ir][passes]") {
  const Graph plain = llama(kLlama31_8b);
  const Graph graph = *speculate(llama(kLlama31_8b), {.draft = 3, .acceptance = 0.8});
  CHECK(render(verify(graph)).empty());
  // As a chunk of four tokens, with the head four times.
  Bindings chunk = decode(2, 1000);
  chunk.set("q_len", 4);
  const std::int64_t head = 2LL * 2 * 128256 * 4096;
  CHECK(std::stoll(exact(totals(graph).flops, decode(2, 1000))) ==
        std::stoll(exact(totals(plain).flops, chunk)) + 3 * head);
  CHECK_THAT(graph.facts.notes.back(), Catch::Contains("2.952 expected"));
}

TEST_CASE("expected tokens of a step lie between one and all", "[ir][passes]") {
  CHECK(expected_tokens({.draft = 4, .acceptance = 0}) == 1);
  CHECK(expected_tokens({.draft = 4, .acceptance = 1}) == 5);
  // Leviathan et al., figure 2: about 2.95 at a rate of 0.8 and a draft of 3.
  CHECK(expected_tokens({.draft = 3, .acceptance = 0.8}) == Approx(1 + 0.8 + 0.64 + 0.512));
}

TEST_CASE("no draft changes nothing and a wrong rate is refused", "[ir][passes]") {
  const Graph graph = *speculate(llama({}), {});
  CHECK(graph.facts.notes.empty());
  CHECK_FALSE(speculate(llama({}), {.draft = 3, .acceptance = 1.5}));
  CHECK_FALSE(speculate(llama({}), {.draft = -1, .acceptance = 0.5}));
}

}  // namespace mansard::ir
