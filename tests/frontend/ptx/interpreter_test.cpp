#include "frontend/ptx/interpreter/interpreter.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "frontend/ptx/parser.hpp"
#include "tests/frontend/ptx/text.hpp"

namespace mansard::frontend::ptx {
namespace {

/// A kernel that writes %r9 of every thread to x, run with one block.
struct Ran {
  Counts counts;
  std::vector<std::uint32_t> results;
};

Module read(const std::string& text) {
  Result<Parsed> parsed = parse(source_of(text));
  if (!parsed) {
    FAIL(render(parsed.error()));
  }
  return std::move(parsed->module);
}

const std::string kStore =
    "mov.u32 %r98, %tid.x; ld.param.u64 %rd98, [x]; mad.wide.u32 %rd97, %r98, 4, %rd98;"
    "st.global.u32 [%rd97], %r9; ret;";

Ran run(const std::string& body, std::uint32_t threads = 32, std::uint32_t n = 0) {
  const Module module = read(kernel_text(body + kStore));
  Memory memory;
  const std::uint64_t x = memory.allocate(std::uint64_t{threads} * 4);
  const Launch launch = {.block = {threads}, .arguments = {{"n", n}, {"x", x}}};
  Result<Counts> counts = interpret(module, module.functions.front(), launch, memory);
  if (!counts) {
    FAIL(render(counts.error()));
  }
  Ran ran = {*counts, std::vector<std::uint32_t>(threads)};
  std::memcpy(ran.results.data(), memory.bytes(x).data(), std::size_t{threads} * 4);
  return ran;
}

std::string error_of(const std::string& body) {
  const Module module = read(kernel_text(body));
  Memory memory;
  const Launch launch = {.block = {32}};
  const Result<Counts> counts =
      interpret(module, module.functions.front(), launch, memory, {.warp_instructions = 10000});
  REQUIRE_FALSE(counts);
  return counts.error().front().id;
}

TEST_CASE("integer instructions give what their definitions say") {
  CHECK(run("mov.u32 %r1, 0x80000000; mul.hi.u32 %r9, %r1, 6;").results[0] == 3);
  CHECK(run("mov.u32 %r1, -7; div.s32 %r9, %r1, 2;").results[0] == static_cast<std::uint32_t>(-3));
  CHECK(run("mov.u32 %r1, 0xF0; bfe.u32 %r9, %r1, 4, 8;").results[0] == 0xF);
  CHECK(run("mov.u32 %r1, 0xF0; bfe.s32 %r9, %r1, 4, 4;").results[0] == 0xFFFFFFFF);
  CHECK(run("mov.u32 %r1, 5; mov.u32 %r2, 0; bfi.b32 %r9, %r1, %r2, 8, 4;").results[0] == 0x500);
  CHECK(run("mov.u32 %r1, 0x33221100; mov.u32 %r2, 0x77665544; prmt.b32 %r9, %r1, %r2, 0x7531;")
            .results[0] == 0x77553311);
  CHECK(run("mov.u32 %r1, 0xCC; mov.u32 %r2, 0xAA; mov.u32 %r3, 0xF0;"
            "lop3.b32 %r9, %r3, %r1, %r2, 0x96;")
            .results[0] == (0xCCU ^ 0xAAU ^ 0xF0U));
  CHECK(run("mov.u32 %r1, -1; add.cc.u32 %r2, %r1, 1; addc.u32 %r9, 0, 0;").results[0] == 1);
  CHECK(run("mov.u32 %r1, 0x12345678; shf.l.wrap.b32 %r9, %r1, %r1, 8;").results[0] == 0x34567812);
  CHECK(run("mov.u32 %r1, 0x7FFFFFFF; add.sat.s32 %r9, %r1, 1;").results[0] == 0x7FFFFFFF);
  CHECK(run("mov.u32 %r1, 0x100; clz.b32 %r9, %r1;").results[0] == 23);
}

TEST_CASE("conversions round and clamp") {
  CHECK(run("mov.f32 %f1, 2.5; cvt.rni.s32.f32 %r9, %f1;").results[0] == 2);
  CHECK(run("mov.f32 %f1, -1.5; cvt.rzi.u32.f32 %r9, %f1;").results[0] == 0);
  CHECK(run("mov.f32 %f1, 3e9; cvt.rzi.s32.f32 %r9, %f1;").results[0] == 0x7FFFFFFF);
  CHECK(run("mov.f32 %f1, 1.0; cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r9, %rs1;").results[0] ==
        0x3C00);
  CHECK(run("mov.u32 %r1, 200; cvt.s32.s8 %r9, %r1;").results[0] ==
        static_cast<std::uint32_t>(-56));
}

TEST_CASE("a warp that a branch parts comes together at the post-dominator") {
  // Lanes 0 to 15 take one way, 16 to 31 the other; behind J all vote together.
  const Ran ran =
      run("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; @%p1 bra A;"
          "mov.u32 %r2, 1; bra J; A: mov.u32 %r2, 2; J: setp.eq.u32 %p2, %r2, 2;"
          "vote.sync.ballot.b32 %r9, %p2, -1;");
  CHECK(ran.results[31] == 0xFFFF);
  CHECK(ran.counts.divergent_branches == 1);
  CHECK(ran.counts.instructions[3].warps == 1);
  CHECK(ran.counts.instructions[3].threads == 16);
  CHECK(ran.counts.instructions[6].threads == 32);
}

TEST_CASE("a loop runs for as long as its longest lane") {
  const Ran ran =
      run("mov.u32 %r1, %tid.x; mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1;"
          "setp.le.u32 %p1, %r9, %r1; @%p1 bra L;");
  CHECK(ran.results[31] == 32);
  CHECK(ran.results[0] == 1);
  CHECK(ran.counts.instructions[2].warps == 32);
  CHECK(ran.counts.instructions[2].threads == 32 * 33 / 2);
}

TEST_CASE("shuffles reduce a warp to its sum") {
  const Ran ran =
      run("mov.u32 %r9, %tid.x;"
          "shfl.sync.bfly.b32 %r1, %r9, 16, 31, -1; add.u32 %r9, %r9, %r1;"
          "shfl.sync.bfly.b32 %r1, %r9, 8, 31, -1; add.u32 %r9, %r9, %r1;"
          "shfl.sync.bfly.b32 %r1, %r9, 4, 31, -1; add.u32 %r9, %r9, %r1;"
          "shfl.sync.bfly.b32 %r1, %r9, 2, 31, -1; add.u32 %r9, %r9, %r1;"
          "shfl.sync.bfly.b32 %r1, %r9, 1, 31, -1; add.u32 %r9, %r9, %r1;");
  CHECK(ran.results[7] == 496);
}

TEST_CASE("warps see each other's shared memory behind a barrier") {
  const Ran ran =
      run(".shared .b32 s[64]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;"
          "mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; bar.sync 0;"
          "xor.b32 %r4, %r1, 63; mad.lo.u32 %r3, %r4, 4, %r2; ld.shared.u32 %r9, [%r3];",
          64);
  CHECK(ran.results[0] == 63);
  CHECK(ran.results[40] == 23);
  CHECK(ran.counts.shared_load.wavefronts == 2);
}

TEST_CASE("a stride of 32 words is a bank conflict of every lane") {
  const Ran ran =
      run(".shared .b32 s[1024]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;"
          "mad.lo.u32 %r3, %r1, 128, %r2; ld.shared.u32 %r9, [%r3];");
  CHECK(ran.counts.shared_load.requests == 1);
  CHECK(ran.counts.shared_load.wavefronts == 32);
  CHECK(ran.counts.shared_load.bank_conflicts == 31);
}

TEST_CASE("a coalesced store of words touches four sectors") {
  const Ran ran = run("mov.u32 %r9, 1;");
  CHECK(ran.counts.global_store.requests == 1);
  CHECK(ran.counts.global_store.sectors == 4);
  CHECK(ran.counts.global_store.bytes == 128);
  CHECK(ran.counts.written_sectors == 4);
}

TEST_CASE("atomics add up over the lanes") {
  const Ran ran =
      run(".shared .b32 s; mov.u32 %r1, s; atom.shared.add.u32 %r2, [%r1], 3;"
          "ld.shared.u32 %r9, [%r1];");
  CHECK(ran.results[0] == 96);
}

TEST_CASE("an FMA is two FLOP") {
  const Ran ran = run("fma.rn.f32 %f1, %f1, %f1, %f1; add.f64 %fd1, %fd1, %fd1; mov.u32 %r9, 0;");
  CHECK(ran.counts.flops.fp32 == 64);
  CHECK(ran.counts.flops.fp64 == 32);
}

TEST_CASE("a matrix product of ones is its depth") {
  // 0x3C003C00 is two ones of f16; D starts from 0.
  const Ran ran =
      run("mov.b32 %r1, 0x3C003C00; mov.f32 %f1, 0f00000000;"
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5},"
          "{%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1}; mov.b32 %r9, %f4;");
  CHECK(ran.results[13] == 0x41800000);  // 16.0
  CHECK(ran.counts.flops.tensor == 2 * 16 * 8 * 16);
  CHECK(ran.counts.not_computed.empty());
}

TEST_CASE("ldmatrix gives lane 4r+c the elements 2c and 2c+1 of row r") {
  const Ran ran =
      run(".shared .align 16 .b8 s[128]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;"
          "mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1;"
          "and.b32 %r4, %r1, 7; mad.lo.u32 %r5, %r4, 16, %r2;"
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r5];");
  CHECK(ran.results[0] == 0);
  CHECK(ran.results[31] == 31);
  CHECK(ran.counts.shared_load.wavefronts == 1);
}

TEST_CASE("an access outside every buffer is an error with its place") {
  CHECK(error_of("ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1];") == "ptx-bounds");
  CHECK(error_of("mov.u32 %r1, 4; ld.shared.u32 %r1, [%r1];") == "ptx-bounds");
}

TEST_CASE("an endless loop ends at the limit, a lost barrier is a deadlock") {
  CHECK(error_of("L: bra L;") == "ptx-limit");
  CHECK(error_of("bar.sync 1, 64;") == "ptx-deadlock");
}

TEST_CASE("what is not interpreted is named") {
  const Module module =
      read(kernel_text("mov.u32 %r1, 5;\nsetmaxnreg.inc.sync.aligned.u32 96;\n"
                       "wgmma.fence.sync.aligned;"));
  Memory memory;
  const Result<Counts> counts =
      interpret(module, module.functions.front(), {.block = {32}}, memory);
  REQUIRE_FALSE(counts);
  CHECK(counts.error().front().message == "'wgmma.fence.sync.aligned' is not interpreted");
}

TEST_CASE("the given saxpy computes and counts what it should") {
  const char* shared = std::getenv("MANSARD_SHARED");
  if (shared == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  const Result<Parsed> parsed = parse_file(std::string(shared) + "/data/kernels/kernels.sm_90.ptx");
  REQUIRE(parsed);
  const Function& saxpy = *parsed->module.find_function("saxpy");
  constexpr std::uint32_t kCount = 4096;
  Memory memory;
  const std::uint64_t x = memory.allocate(kCount * 4);
  const std::uint64_t y = memory.allocate(kCount * 4);
  const float one = 1;
  for (std::size_t i = 0; i < kCount; ++i) {
    std::memcpy(&memory.bytes(x)[i * 4], &one, 4);
  }
  const Launch launch = {.grid = {8},
                         .block = {256},
                         .arguments = {{"saxpy_param_0", kCount},
                                       {"saxpy_param_1", 0x40000000},
                                       {"saxpy_param_2", x},
                                       {"saxpy_param_3", y}}};
  const Result<Counts> counts = interpret(parsed->module, saxpy, launch, memory);
  REQUIRE(counts);
  float last = 0;
  std::memcpy(&last, &memory.bytes(y)[(kCount - 1) * 4], 4);
  CHECK(last == 2.0F);
  CHECK(counts->flops.fp32 == 2 * kCount);
  CHECK(counts->global_load.sectors == 2 * kCount / 8);
  CHECK(counts->global_store.sectors == kCount / 8);
}

}  // namespace
}  // namespace mansard::frontend::ptx
