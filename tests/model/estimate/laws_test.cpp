#include <cmath>

#include "tests/model/estimate/one_op.hpp"

/// Laws that every estimate keeps.
namespace mansard::model::test {
namespace {

std::vector<OneOp> various_ops() {
  return {
      {.kind = "matmul", .dims = {{"b", 1}, {"m", 7}, {"n", 4096}, {"k", 1024}}},
      {.kind = "matmul", .dims = {{"b", 3}, {"m", 1000}, {"n", 1001}, {"k", 333}}},
      {.kind = "matmul", .dims = {{"b", 1}, {"m", 1}, {"n", 1}, {"k", 1}}},
      {.kind = "matmul",
       .dims = {{"b", 1}, {"m", 64}, {"n", 4096}, {"k", 4096}},
       .dtypes = {{"w", "int4_wo"}}},
      {.kind = "grouped_matmul",
       .dims = {{"m", 100}, {"n", 512}, {"k", 2048}, {"e", 64}, {"u", 50.5}, {"l", 4}}},
      {.kind = "attention",
       .dims = {{"b", 3},
                {"h", 32},
                {"g", 8},
                {"q", 1},
                {"t", 5000},
                {"p", 5000},
                {"d", 128},
                {"v", 128}}},
      {.kind = "attention",
       .dims = {{"b", 2},
                {"h", 16},
                {"g", 4},
                {"q", 700},
                {"t", 900},
                {"p", 385350},
                {"d", 64},
                {"v", 64}}},
      {.kind = "mla_attention",
       .dims = {{"b", 4}, {"h", 128}, {"q", 1}, {"t", 3000}, {"p", 3000}, {"r", 512}, {"d", 64}}},
      {.kind = "norm",
       .dims = {{"r", 33}, {"c", 5120}, {"a", 3}},
       .attributes = {{"norm", "rmsnorm"}}},
      {.kind = "softmax", .dims = {{"r", 100}, {"c", 3000}}},
      {.kind = "rope", .dims = {{"t", 9}, {"r", 360}, {"d", 128}}},
      {.kind = "kv_write", .dims = {{"n", 20480}}},
      {.kind = "embedding", .dims = {{"t", 17}, {"c", 4096}, {"n", 32000}}},
      {.kind = "sample", .dims = {{"b", 9}, {"n", 128256}}},
      {.kind = "moe_router", .dims = {{"t", 100}, {"e", 128}, {"k", 8}}},
      {.kind = "elementwise",
       .dims = {{"n", 1e6}, {"i", 2e6}, {"a", 3}, {"s", 1}},
       .attributes = {{"function", "silu_mul"}}},
      {.kind = "elementwise",
       .dims = {{"n", 1}, {"i", 1e6}, {"a", 1e6}},
       .attributes = {{"function", "sum"}}},
      {.kind = "elementwise",
       .dims = {{"n", 1000}, {"i", 4e6}, {"a", 4000}},
       .attributes = {{"function", "row_sum"}}},
      {.kind = "elementwise",
       .dims = {{"n", 4000}, {"i", 4e6}, {"a", 1000}},
       .attributes = {{"function", "col_sum"}}},
      {.kind = "linear_attention",
       .dims = {{"b", 2}, {"q", 1}, {"g", 16}, {"h", 32}, {"d", 128}, {"v", 128}, {"a", 3}}},
      {.kind = "ssm_scan",
       .dims = {{"b", 2}, {"q", 1}, {"h", 128}, {"d", 64}, {"s", 128}, {"x", 128}, {"g", 1}}},
      {.kind = "convolution",
       .dims = {{"b", 1}, {"n", 4096}, {"k", 4}, {"o", 512}, {"i", 2101248}}},
  };
}

TEST_CASE("bound <= low <= estimate <= high, all finite, on every machine",
          "[estimate][property]") {
  for (const std::string& machine : hardware::machine_names()) {
    const CostModel cost = cost_of(various_ops(), machine);
    const ir::Bindings bindings = cost.bindings({});
    for (const OpCost& op : cost.ops) {
      CAPTURE(machine, cost.graph->op(op.demand.op).name);
      const double estimate = ir::value(op.estimate.expr(), bindings);
      CHECK(std::isfinite(estimate));
      CHECK(ir::value(op.bound.expr(), bindings) <= ir::value(op.low.expr(), bindings));
      CHECK(ir::value(op.low.expr(), bindings) <= estimate);
      CHECK(estimate <= ir::value(op.high.expr(), bindings));
    }
  }
}

TEST_CASE("every term of an estimate is a time that is not negative", "[estimate][property]") {
  for (const std::string machine : {"h200-sxm", "b200-sxm", "mi300x", "tpu-v5e"}) {
    const CostModel cost = cost_of(various_ops(), machine);
    const ir::Bindings bindings = cost.bindings({});
    for (const OpCost& op : cost.ops) {
      for (const Term& term : op.estimate_terms) {
        CAPTURE(machine, cost.graph->op(op.demand.op).name, term.resource);
        CHECK(ir::value(term.time.expr(), bindings) >= 0);
      }
    }
  }
}

TEST_CASE("faster memory makes no op slower", "[estimate][property]") {
  const std::vector<OneOp> ops = various_ops();
  const CostModel before = cost_of(ops, "h200-sxm");
  const CostModel after = cost_of(ops, "h200-sxm", alone(), {{"hbm.bandwidth", "*1.5"}});
  for (std::size_t i = 0; i < ops.size(); ++i) {
    CAPTURE(i, ops[i].kind);
    CHECK(ir::value(after.ops[i].estimate.expr(), after.bindings({})) <=
          ir::value(before.ops[i].estimate.expr(), before.bindings({})) * (1 + 1e-12));
  }
}

TEST_CASE("a matmul's time follows its shape where the choice of kernel does not change",
          "[estimate][property]") {
  const auto time = [](double n, double k) {
    return estimate_of({.kind = "matmul", .dims = {{"b", 1}, {"m", 32}, {"n", n}, {"k", k}}},
                       "h200-sxm", alone("cublaslt"));
  };
  for (const double n : {6144.0, 10240.0, 28672.0}) {
    for (const double step : {64.0, 128.0, 256.0}) {
      const double work = (n + step) / n;
      CAPTURE(n, step);
      CHECK(time(n + step, 4096) / time(n, 4096) == Approx(work).epsilon(0.06));
    }
  }
}

TEST_CASE("an op on rows that are not aligned takes longer on the matrix engine", "[estimate]") {
  const auto time = [](double n) {
    return estimate_of({.kind = "matmul", .dims = {{"b", 1}, {"m", 2048}, {"n", n}, {"k", 4096}}},
                       "h200-sxm", alone("cublaslt"));
  };
  CHECK(time(4096) < time(4097));
  CHECK(time(4094) > 1.2 * time(4096));
}

}  // namespace
}  // namespace mansard::model::test
