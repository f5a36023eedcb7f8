#include "ir/op_def.hpp"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

std::vector<Expr> counts_of(const OpDef& op) {
  std::vector<Expr> counts = {op.flops, op.vector_flops, op.special_ops, op.link_elements};
  for (const OperandDef& operand : op.operands) {
    counts.push_back(operand.touched);
    counts.push_back(operand.touched_least);
  }
  std::erase_if(counts, [](Expr e) { return !e; });
  return counts;
}

std::set<std::string_view> symbols_in(const OpDef& op) {
  std::set<std::string_view> names;
  for (const Expr symbol : symbols_of(counts_of(op))) {
    names.insert(symbol->symbol);
  }
  return names;
}

}  // namespace

TEST_CASE("the registry is sorted and holds the twenty-six kinds", "[ir][ops]") {
  const std::vector<std::string_view> kinds = {"all_gather",
                                               "all_reduce",
                                               "all_to_all",
                                               "attention",
                                               "convolution",
                                               "custom",
                                               "elementwise",
                                               "embedding",
                                               "grouped_matmul",
                                               "kv_write",
                                               "linear_attention",
                                               "matmul",
                                               "mla_attention",
                                               "moe_router",
                                               "move",
                                               "norm",
                                               "pool",
                                               "recurrent",
                                               "reduce",
                                               "reduce_scatter",
                                               "rope",
                                               "sample",
                                               "send_recv",
                                               "softmax",
                                               "ssm_scan",
                                               "top_k"};
  REQUIRE(op_registry().size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK(op_registry()[i].name == kinds[i]);
    CHECK(find_op(kinds[i]) == &op_registry()[i]);
  }
  CHECK(find_op("gemm") == nullptr);
}

TEST_CASE("every op states its source and its semantics", "[ir][ops]") {
  for (const OpDef& op : op_registry()) {
    CAPTURE(op.name);
    CHECK_FALSE(op.source.empty());
    CHECK_FALSE(op.semantics.empty());
    CHECK_FALSE(op.operands.empty());
  }
}

TEST_CASE("every op counts only dims that it lists", "[ir][ops]") {
  for (const OpDef& op : op_registry()) {
    CAPTURE(op.name);
    std::set<std::string_view> listed;
    for (const DimDef& dim : op.dims) {
      CHECK(listed.insert(dim.name).second);
      CHECK_FALSE(dim.meaning.empty());
    }
    const std::set<std::string_view> used = symbols_in(op);
    CHECK(std::ranges::includes(listed, used));
  }
}

TEST_CASE("counts have their dimensions", "[ir][ops]") {
  for (const OpDef& op : op_registry()) {
    CAPTURE(op.name);
    CHECK((!op.flops || op.flops.dimension() == kFlop));
    CHECK((!op.vector_flops || op.vector_flops.dimension() == kFlop));
    CHECK((!op.special_ops || op.special_ops.dimension() == kNumber));
    CHECK((!op.link_elements || op.link_elements.dimension() == kNumber));
    for (const OperandDef& operand : op.operands) {
      CHECK(operand.touched.dimension() == kNumber);
    }
  }
}

TEST_CASE("an op contracts on an engine, and only then", "[ir][ops]") {
  for (const OpDef& op : op_registry()) {
    CAPTURE(op.name);
    CHECK((op.engine == Engine::kNone) == !op.flops);
  }
}

TEST_CASE("optional operands stand last and weights are never written", "[ir][ops]") {
  for (const OpDef& op : op_registry()) {
    CAPTURE(op.name);
    CHECK(std::ranges::is_sorted(op.operands, {}, &OperandDef::optional));
    for (const OperandDef& operand : op.operands) {
      CHECK((operand.role != Role::kWeight || operand.access == Access::kRead));
      CHECK((operand.role != Role::kState || operand.access == Access::kReadWrite));
    }
  }
}

TEST_CASE("counting twice gives the same", "[ir][ops]") {
  // DeepSpeed#2292: FLOP grew with every start and stop.
  const auto flops = [] {
    return count_of("matmul", &OpDef::flops, {{"b", 1}, {"m", 2}, {"n", 3}, {"k", 5}});
  };
  CHECK(flops() == flops());
}

}  // namespace mansard::ir
