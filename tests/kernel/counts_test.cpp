#include <catch2/catch.hpp>

#include "tests/kernel/kernels.hpp"

namespace mansard::test {
namespace {

using model::kernel::Totals;

/// i = block * blockDim + thread; %rd1 = p0.
const std::string kIndex = R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r9, [m];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
)";

/// y[i * n] += 0.
std::string strided() {
  return kIndex + R"(
  mul.lo.s32 %r6, %r5, %r1;
  mul.wide.s32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ret;)";
}

/// for (; i < n; i += m) load x[i]
std::string strided_loop() {
  return kIndex + R"(
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
LOOP:
  mul.wide.s32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  fma.rn.f32 %f2, %f1, %f1, %f2;
  add.s32 %r5, %r5, %r9;
  setp.lt.s32 %p2, %r5, %r1;
  @%p2 bra LOOP;
DONE:
  ret;)";
}

}  // namespace

TEST_CASE("words side by side take 4 sectors a request, 8 words apart 32", "[kernel]") {
  const ir::Kernel kernel = kernel_of(strided());
  CHECK(totals_of(kernel, {10, 1, 1}, {64, 1, 1}, 1).global_load.sectors == 4 * 20);
  CHECK(totals_of(kernel, {10, 1, 1}, {64, 1, 1}, 2).global_load.sectors == 8 * 20);
  CHECK(totals_of(kernel, {10, 1, 1}, {64, 1, 1}, 3).global_load.sectors ==
        12 * 20);  // structs of 3 floats
  CHECK(totals_of(kernel, {10, 1, 1}, {64, 1, 1}, 8).global_load.sectors == 32 * 20);
  CHECK(totals_of(kernel, {10, 1, 1}, {64, 1, 1}, 0).global_load.sectors == 1 * 20);
}

TEST_CASE("a grid-stride loop runs its body once an element, whatever the grid", "[kernel]") {
  const ir::Kernel kernel = kernel_of(strided_loop());
  for (const std::int64_t n : {1, 31, 32, 1000, 4096, 1'000'003}) {
    for (const std::int64_t blocks : {1, 7, 64}) {
      CAPTURE(n, blocks);
      const Totals totals = totals_of(kernel, {blocks, 1, 1}, {96, 1, 1}, n, blocks * 96);
      CHECK(totals.flops_fp32 == 2.0 * static_cast<double>(n));
      CHECK(totals.global_load.bytes == 4.0 * static_cast<double>(n));
    }
  }
}

TEST_CASE("a count takes as long for a billion elements as for a thousand", "[kernel]") {
  const ir::Kernel kernel = kernel_of(strided_loop());
  CHECK(counts_of(kernel, {1024, 1, 1}, {256, 1, 1}, 1'000'000'000, 262144).steps < 5000);
}

TEST_CASE("a loop whose length is in memory is a named unknown", "[kernel]") {
  const ir::Kernel kernel = kernel_of(kIndex + R"(
  mul.wide.s32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r7, [%rd3];
  mov.u32 %r8, 0;
LOOP:
  fma.rn.f32 %f2, %f2, %f2, %f2;
  add.s32 %r8, %r8, 1;
  setp.lt.s32 %p2, %r8, %r7;
  @%p2 bra LOOP;
  ret;)");
  const auto counts = counts_of(kernel, {4, 1, 1}, {32, 1, 1});
  REQUIRE(counts.findings.unknown_loops.size() == 1);

  model::kernel::Launch launch{.grid = {4, 1, 1}, .block = {32, 1, 1}};
  launch.arguments.resize(kernel.parameters.size());
  launch.trips[0] = {.count = 12.5};
  const auto bound = model::kernel::count(kernel, ir::analyse_flow(kernel), launch);
  CHECK(model::kernel::totals_of(kernel, bound).flops_fp32 == 2 * 12.5 * 128);
}

TEST_CASE("an argument that a branch needs and nobody gave is named", "[kernel]") {
  const ir::Kernel kernel = kernel_of(strided_loop());
  model::kernel::Launch launch{.grid = {4, 1, 1}, .block = {32, 1, 1}};
  launch.arguments.resize(kernel.parameters.size());
  const auto counts = model::kernel::count(kernel, ir::analyse_flow(kernel), launch);
  REQUIRE_FALSE(counts.findings.unbound.empty());
  CHECK(kernel.parameters[*counts.findings.unbound.begin()].name == "n");
}

TEST_CASE("divergent paths cost their sum", "[kernel]") {
  const ir::Kernel kernel = kernel_of(kIndex + R"(
  and.b32 %r6, %r4, 1;
  setp.eq.s32 %p1, %r6, 0;
  @%p1 bra EVEN;
  add.f32 %f1, %f1, %f1;
  bra JOIN;
EVEN:
  mul.f32 %f1, %f1, %f1;
JOIN:
  ret;)");
  const auto counts = counts_of(kernel, {1, 1, 1}, {32, 1, 1});
  double adds = 0;
  double warps = 0;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const std::string& name = kernel.classes[kernel.instructions[i].kind].name;
    if (name == "add.f32" || name == "mul.f32") {
      adds += counts.thread[i];
      warps += counts.warp[i];
    }
  }
  CHECK(adds == 32);  // each thread one of the two
  CHECK(warps == 2);  // the warp both
  CHECK(counts.findings.divergent.size() == 1);
}

TEST_CASE("a barrier under divergent control flow is reported", "[kernel]") {
  const std::string guarded = kIndex + R"(
  setp.ge.u32 %p1, %r4, 7;
  @%p1 bra SKIP;
  bar.sync 0;
SKIP:
  bar.sync 0;
  ret;)";
  CHECK(counts_of(kernel_of(guarded), {1, 1, 1}, {32, 1, 1}).findings.divergent_barriers.size() ==
        1);
}

TEST_CASE("a tile read by column conflicts 32-way, a padded one not at all", "[kernel]") {
  const auto conflicts = [](int row) {
    const ir::Kernel kernel =
        kernel_of(kIndex + "mov.u32 %r10, tile;\n mad.lo.s32 %r11, %r4, " +
                      std::to_string(row * 4) + ", %r10;\n ld.shared.f32 %f1, [%r11];\n ret;",
                  ".shared .align 4 .b8 tile[8448];");
    return totals_of(kernel, {1, 1, 1}, {32, 1, 1}).shared_load.bank_conflicts;
  };
  CHECK(conflicts(32) == 31);
  CHECK(conflicts(33) == 0);
  CHECK(conflicts(2) == 1);
}

TEST_CASE("no instruction of a file is dropped", "[kernel]") {
  const ir::Kernel kernel = kernel_of(strided());
  double written = 0;
  for (const ir::KernelInstruction& each : kernel.instructions) {
    written += kernel.classes[each.kind].written;
  }
  CHECK(written == 12);
}

}  // namespace mansard::test
