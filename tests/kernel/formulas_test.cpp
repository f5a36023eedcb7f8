#include <catch2/catch.hpp>

#include "ir/expr_eval.hpp"
#include "ir/kernel_formulas.hpp"
#include "tests/kernel/kernels.hpp"

namespace mansard::test {
namespace {

/// do { ... } while ((i += m) < n) from the thread's own index.
const std::string kLoop = R"(
  ld.param.u32 %r1, [n];
  ld.param.u32 %r9, [m];
  mov.u32 %r5, %tid.x;
LOOP:
  fma.rn.f32 %f2, %f1, %f1, %f2;
  add.s32 %r5, %r5, %r9;
  setp.lt.s32 %p2, %r5, %r1;
  @%p2 bra LOOP;
  ret;)";

}  // namespace

TEST_CASE("the trip count of a loop is a formula in the arguments", "[kernel]") {
  const ir::Kernel kernel = kernel_of(kLoop);
  const ir::KernelFormulas formulas = ir::formulas_of(kernel, ir::analyse_flow(kernel));
  REQUIRE(formulas.unknowns.empty());
  REQUIRE(formulas.regions.size() == 2);
  for (const int n : {1, 64, 100, 1000}) {
    int trips = 0;
    for (int i = 3, go = 1; go != 0; ++trips) {
      i += 7;
      go = static_cast<int>(i < n);
    }
    CHECK(ir::value(formulas.regions[1].trips, {{"tid.x", 3}, {"n", n}, {"m", 7}}) == trips);
  }
}

TEST_CASE("a formula summed over threads is what the walk counts", "[kernel]") {
  const ir::Kernel kernel = kernel_of(kLoop);
  const ir::KernelFormulas formulas = ir::formulas_of(kernel, ir::analyse_flow(kernel));
  double flops = 0;
  for (int thread = 0; thread < 64; ++thread) {
    flops += ir::value(formulas.flops, {{"tid.x", thread}, {"n", 1234}, {"m", 5}});
  }
  CHECK(totals_of(kernel, {1, 1, 1}, {64, 1, 1}, 1234, 5).flops_fp32 == flops);
}

TEST_CASE("a loop that ends by data has no formula", "[kernel]") {
  const ir::Kernel kernel = kernel_of(R"(
  ld.param.u64 %rd1, [p0];
LOOP:
  ld.global.u32 %r1, [%rd1];
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra LOOP;
  ret;)");
  CHECK(ir::formulas_of(kernel, ir::analyse_flow(kernel)).unknowns ==
        std::vector<std::string>{"trip_L1"});
}

}  // namespace mansard::test
