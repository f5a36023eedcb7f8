#include "validate/op_rows.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "frontend/frontend.hpp"
#include "validate/cases.hpp"

namespace mansard::validate {
namespace {

std::vector<OpRow> rows_of(const std::string& model, const std::string& phase, double batch,
                           double context) {
  const auto graph = frontend::import_model(
      model, phase == "prefill" ? frontend::Phase::kPrefill : frontend::Phase::kDecode);
  REQUIRE(graph);
  const double new_tokens = phase == "prefill" ? context : 1;
  return op_rows(*graph, {{"batch", batch}, {"context", context}, {"q_len", new_tokens}}, phase);
}

OpRow named(const std::vector<OpRow>& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const OpRow& row) { return row.name == name; });
  REQUIRE(found != rows.end());
  return *found;
}

double column(const OpRow& row, const char* name) {
  const auto found = row.shape.dims.find(name);
  return found == row.shape.dims.end() ? 0 : found->second;
}

TEST_CASE("the query, key and value matmul of llama3-8b is 6144 x 4096, 32 times a step") {
  const OpRow qkv = named(rows_of("llama3-8b", "decode", 16, 2048), "attention.qkv");
  CHECK(qkv.shape.op == "matmul");
  CHECK(qkv.shape.dtype == "bf16");
  CHECK(qkv.count == 32);
  CHECK(column(qkv, "m") == 16);
  CHECK(column(qkv, "n") == 4096 + 2 * 8 * 128);
  CHECK(column(qkv, "k") == 4096);
}

TEST_CASE("attention in decode has one query a sequence and no mask, in prefill a causal one") {
  const OpRow decode = named(rows_of("llama3-8b", "decode", 4, 2048), "attention");
  CHECK(decode.shape.phase == "decode");
  CHECK(column(decode, "q_len") == 1);
  CHECK(column(decode, "kv_len") == 2048);
  CHECK(column(decode, "causal") == 0);
  const OpRow prefill = named(rows_of("llama3-8b", "prefill", 1, 512), "attention");
  CHECK(column(prefill, "q_len") == 512);
  CHECK(column(prefill, "causal") == 1);
  CHECK(column(prefill, "window") == 0);
}

TEST_CASE("the window of sliding attention is found from its query-key pairs") {
  const OpRow row = named(rows_of("gpt-oss-20b", "prefill", 1, 1024), "sliding.attention");
  CHECK(column(row, "window") == 128);
  CHECK(row.difference.empty());
  CHECK(window_of(4, 4, 10) == 0.0);
  CHECK(window_of(4, 4, 7) == 2.0);
  CHECK_FALSE(window_of(4, 4, 8));
}

TEST_CASE("rows of known ops build the graph of their case, with the FLOP of the op") {
  for (const OpRow& row : rows_of("qwen3-30b-a3b", "decode", 8, 1024)) {
    const Case* const its_case = find_case(row.shape.op);
    if (its_case != nullptr) {
      CHECK_NOTHROW(its_case->graph(row.shape));
    }
  }
  const OpRow experts = named(rows_of("qwen3-30b-a3b", "decode", 8, 1024), "moe.down");
  CHECK(column(experts, "tokens") * column(experts, "top_k") == 8 * 8);
  CHECK(column(experts, "experts_touched") <= 64);
}

TEST_CASE("what a row leaves out of its op is said") {
  CHECK(named(rows_of("llama3-8b", "decode", 1, 128), "mlp_norm").difference ==
        "the op adds the residual too");
}

}  // namespace
}  // namespace mansard::validate
