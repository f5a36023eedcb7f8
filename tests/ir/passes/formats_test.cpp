#include <catch2/catch.hpp>

#include "ir/graph_totals.hpp"
#include "ir/passes/passes.hpp"
#include "ir/verify.hpp"
#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {

TEST_CASE("formats of weights reach the layers' matmuls only", "[ir][passes]") {
  const Graph graph = *set_formats(llama(kMixtral), {.weights = find_dtype("mxfp4")});
  CHECK(tensor_named(graph, "qkv.weight").dtype->name == "mxfp4");
  CHECK(tensor_named(graph, "experts.down.weight").dtype->name == "mxfp4");
  CHECK(tensor_named(graph, "router.weight").dtype->name == "bf16");
  CHECK(tensor_named(graph, "head.weight").dtype->name == "bf16");
  CHECK(tensor_named(graph, "embedding.weight").dtype->name == "bf16");
  CHECK(tensor_named(graph, "input_norm.gain").dtype->name == "bf16");
}

TEST_CASE("a 4-bit format with scales takes 4.25 bits of every layer weight", "[ir][passes]") {
  const Graph before = llama(kLlama31_8b);
  const Graph after = *set_formats(llama(kLlama31_8b), {.weights = find_dtype("mxfp4")});
  // 32 layers of 218103808 weights: 6979321856 in all.
  const std::int64_t layers = 6979321856;
  CHECK(std::stoll(exact(weight_bytes(before))) - std::stoll(exact(weight_bytes(after))) ==
        2 * layers - layers * 17 / 32);
  CHECK(exact(totals(after).flops, decode(1, 100)) == exact(totals(before).flops, decode(1, 100)));
}

TEST_CASE("a narrow cache halves its bytes", "[ir][passes]") {
  const Graph graph = *set_formats(llama(kLlama31_8b), {.kv = find_dtype("fp8")});
  CHECK(exact(kv_bytes_per_token(graph), decode(1, 2048)) == "65536");
}

TEST_CASE("activations become narrow where only matmuls read them", "[ir][passes]") {
  const Graph graph = *set_formats(llama(kLlama31_8b), {.activations = find_dtype("fp8")});
  CHECK(tensor_named(graph, "input_norm.out").dtype->name == "fp8");
  CHECK(tensor_named(graph, "attention.out").dtype->name == "fp8");
  CHECK(tensor_named(graph, "stream").dtype->name == "bf16");
  CHECK(tensor_named(graph, "final_norm.out").dtype->name == "bf16");
  CHECK(number_of(graph, "elementwise") == number_of(llama(kLlama31_8b), "elementwise"));
}

TEST_CASE("where a router reads the activations too, a narrow copy is made", "[ir][passes]") {
  const Graph graph = *set_formats(llama(kMixtral), {.activations = find_dtype("fp8")});
  CHECK(tensor_named(graph, "mlp_norm.out").dtype->name == "bf16");
  CHECK(tensor_named(graph, "experts.gate_up.quantized").dtype->name == "fp8");
  CHECK(op_named(graph, "experts.gate_up").operands[0] ==
        op_named(graph, "experts.gate_up.quantize").operands[1]);
  CHECK(verify(graph).empty());
}

TEST_CASE("activations cannot be in a weight-only format", "[ir][passes]") {
  const Result<Graph> graph = set_formats(llama({}), {.activations = find_dtype("int4_wo")});
  REQUIRE_FALSE(graph);
  CHECK(graph.error().front().id == "activation-format");
}

TEST_CASE("no formats change nothing", "[ir][passes]") {
  const Graph graph = *set_formats(llama({}), {});
  CHECK(exact(totals(graph).bytes, decode(3, 50)) == exact(totals(llama({})).bytes, decode(3, 50)));
}

}  // namespace mansard::ir
