#include "tests/model/estimate/one_op.hpp"

/// How the mode of issue, the regime and the power cap act.
namespace mansard::model::test {
namespace {

const OneOp kLarge{.kind = "matmul", .dims = {{"b", 1}, {"m", 8192}, {"n", 8192}, {"k", 8192}}};
const OneOp kSmall{.kind = "kv_write", .dims = {{"n", 1024}}};

CostOptions options_of(Mode mode, bool chained) {
  CostOptions options = alone();
  options.mode = mode;
  options.chained = chained;
  return options;
}

double total_of(const CostModel& cost) {
  return ir::value(cost.estimate.expr(), cost.bindings({}));
}

TEST_CASE("in a chain each kernel waits for the one before", "[estimate]") {
  const double by_itself = estimate_of(kSmall, "h200-sxm", options_of(Mode::kGraph, false));
  const double chained = estimate_of(kSmall, "h200-sxm", options_of(Mode::kGraph, true));
  // launch.node of h200-sxm.yaml; the op is two kernels, keys and values.
  CHECK(chained - by_itself == Approx(2 * 0.9e-6));
}

TEST_CASE("a profiler's kernel time leaves out the gap but never more than half", "[estimate]") {
  const OneOp matmul{.kind = "matmul", .dims = {{"b", 1}, {"m", 16}, {"n", 4096}, {"k", 4096}}};
  const double graph = estimate_of(matmul, "h200-sxm", options_of(Mode::kGraph, false));
  const double kernel = estimate_of(matmul, "h200-sxm", options_of(Mode::kKernel, false));
  CHECK(kernel < graph);
  CHECK(kernel >= graph / 2);
  // launch.gap of h200-sxm.yaml is 0: other kernels take as long by the profiler.
  CHECK(estimate_of(kSmall, "h200-sxm", options_of(Mode::kKernel, false)) ==
        estimate_of(kSmall, "h200-sxm", options_of(Mode::kGraph, false)));
}

TEST_CASE("an eager step takes the host's time where the device is faster", "[estimate]") {
  const std::vector<OneOp> ops(10, kSmall);
  const CostModel eager = cost_of(ops, "h200-sxm", options_of(Mode::kEager, true));
  // launch.eager of h200-sxm.yaml, two calls an op.
  CHECK(total_of(eager) == Approx(20 * 80e-6));
  const CostModel graph = cost_of(ops, "h200-sxm", options_of(Mode::kGraph, true));
  CHECK(total_of(graph) < 0.1 * total_of(eager));
}

TEST_CASE("a long matmul runs slower sustained than in a burst", "[estimate]") {
  CostOptions burst = alone("cublaslt");
  burst.regime = Regime::kBurst;
  const double cold = estimate_of(kLarge, "h200-sxm", burst);
  const double hot = estimate_of(kLarge, "h200-sxm", alone("cublaslt"));
  // Measured 1357 us from cold and 1645 us sustained (extra/h200-sxm.sustained.csv).
  CHECK(cold == Approx(1357e-6).epsilon(0.06));
  CHECK(hot == Approx(1645e-6).epsilon(0.04));
}

TEST_CASE("a higher power cap brings a sustained matmul nearer to its burst", "[estimate]") {
  const double capped = estimate_of(kLarge, "h200-sxm", alone("cublaslt"));
  const double freed =
      estimate_of(kLarge, "h200-sxm", alone("cublaslt"), {{"power.cap", "2000 W"}});
  CHECK(freed < 0.9 * capped);
}

TEST_CASE("a step draws at most the cap and at least its idling", "[estimate][energy]") {
  const CostModel cost = cost_of({kLarge, kSmall}, "h200-sxm", options_of(Mode::kGraph, true));
  REQUIRE(cost.joules);
  const double joules = ir::value(cost.joules.expr(), cost.bindings({}));
  const double seconds = total_of(cost);
  CHECK(joules <= 700 * seconds * (1 + 1e-9));
  CHECK(joules >= 124 * seconds);
}

TEST_CASE("an 8192-cubed matmul draws what was measured", "[estimate][energy]") {
  const CostModel cost = cost_of({kLarge}, "h200-sxm", alone("cublaslt"));
  // extra/h200-sxm.energy.csv: 1.13095 J a call, sustained.
  CHECK(ir::value(cost.joules.expr(), cost.bindings({})) == Approx(1.13095).epsilon(0.05));
}

TEST_CASE("a machine without energy data has no joules", "[estimate][energy]") {
  CHECK_FALSE(cost_of({kSmall}, "tpu-v5e").joules);
}

}  // namespace
}  // namespace mansard::model::test
