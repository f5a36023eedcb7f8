#include <catch2/catch.hpp>

#include "tests/kernel/kernels.hpp"

namespace mansard::test {
namespace {

/// Four words of shared memory from a base register that `address` leaves in %r1.
std::string four_words(const std::string& address, const std::string& between = "") {
  return ".shared .align 16 .b8 tile[4096];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, tile;\n" + address +
         "ld.shared.f32 %f1, [%r1];\nld.shared.f32 %f2, [%r1+4];\n" + between +
         "ld.shared.f32 %f3, [%r1+8];\nld.shared.f32 %f4, [%r1+12];\nret;";
}

double shared_loads(const std::string& body) {
  return totals_of(kernel_of(body), {1, 1, 1}, {32, 1, 1}).shared_load.requests;
}

/// A loop of one load and one sum, from 0 to n by `step`.
std::string summed(const std::string& step) {
  return R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r9, [m];
  mov.u32 %r5, 0;
LOOP:
  mul.wide.s32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f2, %f1;
  add.s32 %r5, %r5, )" +
         step + R"(;
  setp.lt.s32 %p2, %r5, %r1;
  @%p2 bra LOOP;
  ret;)";
}

double warp_instructions(const std::string& body) {
  return totals_of(kernel_of(body), {1, 1, 1}, {32, 1, 1}, 4096, 1).warp_instructions;
}

}  // namespace

TEST_CASE("words of shared memory side by side, aligned for certain, are one load", "[kernel]") {
  const std::string rows = "shl.b32 %r4, %r2, 7;\nadd.s32 %r1, %r3, %r4;\n";  // 128 bytes apart
  const std::string pairs = "shl.b32 %r4, %r2, 3;\nadd.s32 %r1, %r3, %r4;\n";
  const std::string words = "shl.b32 %r4, %r2, 2;\nadd.s32 %r1, %r3, %r4;\n";
  CHECK(shared_loads(four_words(rows)) == 1);
  CHECK(shared_loads(four_words(pairs)) == 2);
  CHECK(shared_loads(four_words(words)) == 4);
}

TEST_CASE("stores and barriers keep loads apart", "[kernel]") {
  const std::string rows = "shl.b32 %r4, %r2, 7;\nadd.s32 %r1, %r3, %r4;\n";
  CHECK(shared_loads(four_words(rows, "bar.sync 0;\n")) == 2);
  CHECK(shared_loads(four_words(rows, "st.shared.f32 [%r1+64], %f1;\n")) == 2);
  CHECK(shared_loads(four_words(rows, "add.s32 %r1, %r1, 128;\n")) == 2);
}

TEST_CASE("16 bytes a lane take two wavefronts even where all lanes read the same", "[kernel]") {
  const std::string body =
      ".shared .align 16 .b8 tile[4096];\nmov.u32 %r1, tile;\n"
      "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];\nret;";
  const auto totals = totals_of(kernel_of(body), {1, 1, 1}, {32, 1, 1});
  CHECK(totals.shared_load.wavefronts == 2);
  CHECK(totals.shared_load.bank_conflicts == 0);
}

TEST_CASE("a loop that counts by a constant compares and branches once in four iterations",
          "[kernel]") {
  const double by_constant = warp_instructions(summed("1"));
  const double by_argument = warp_instructions(summed("%r9"));
  // add, setp and bra of 4096 iterations, of which a quarter is left.
  CHECK(by_argument - by_constant == Approx(3 * 4096 * 0.75).epsilon(0.01));
}

TEST_CASE("a short piece that a branch skips is issued by all warps, without the branch",
          "[kernel]") {
  const auto skipped = [](const std::string& piece) {
    return "mov.u32 %r2, %tid.x;\nld.param.u64 %rd1, [p0];\nsetp.gt.s32 %p1, %r2, 31;\n@%p1 bra "
           "DONE;\n" +
           piece + "DONE:\nst.global.f32 [%rd1], %f1;\nret;";
  };
  const auto warps = [&](int sums) {
    std::string piece;
    for (int i = 0; i < sums; ++i) {
      piece += "add.f32 %f1, %f1, %f2;\n";
    }
    return totals_of(kernel_of(skipped(piece)), {1, 1, 1}, {64, 1, 1}).warp_instructions;
  };
  // Two warps, of which one takes the piece.
  CHECK(warps(5) - warps(4) == Approx(2));
  CHECK(warps(10) - warps(9) == Approx(1));
}

}  // namespace mansard::test
