#include "frontend/ptx/printer.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "frontend/ptx/parser.hpp"
#include "tests/frontend/ptx/text.hpp"

namespace mansard::frontend::ptx {
namespace {

/// Prints, reads that, prints again: a fixed point with as many of everything.
void check_round_trip(const Module& module) {
  const std::string once = print(module);
  const Result<Parsed> again = parse(source_of(once));
  if (!again) {
    FAIL(render(again.error()) << once.substr(0, 2000));
  }
  CHECK(print(again->module) == once);
  REQUIRE(again->module.functions.size() == module.functions.size());
  CHECK(again->module.variables.size() == module.variables.size());
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    CHECK(again->module.functions[i].instructions.size() ==
          module.functions[i].instructions.size());
    CHECK(again->module.functions[i].operands.size() == module.functions[i].operands.size());
    CHECK(again->module.functions[i].registers.size() == module.functions[i].registers.size());
  }
}

TEST_CASE("what is printed parses to the same module") {
  const Result<Parsed> parsed = parse(source_of(module_text(R"(
.file 1 "a.cu"
.extern .shared .align 16 .b8 dynamic[];
.global .align 4 .u32 table[2][2] = {{1, 2}, {3, -4}};
.global .u64 pointer = generic(table)+8;
.const .f64 half = 0.5;
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .entry k(.param .u64 .ptr .global .align 8 x, .param .align 8 .b8 s[24])
.maxntid 128, 1, 1
.minnctapersm 2
{
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .v4 .f32 v; .reg .f32 %f<5>;
.pragma "nounroll";
.loc 1 4 2, function_name $L__info, inlined_at 1 9 1
T: .branchtargets A, B;
P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);
@!%p1 bra A;
ld.global.v2.u32 {%r1, _}, [%rd1+-8];
setp.lt.and.u32 %p1|%p2, %r1, 5U, !%p1;
mov.f32 %f1, v.x; add.f32 %f1, %f1, 0f3F800000;
mov.u32 %r2, %tid.x; vadd2.s32.s32.s32 %r1.h10, %r2, %r3.h32, %r4;
{ .reg .b32 %r1; .param .b32 q; mov.b32 %r1, dynamic+4;
call (q), vprintf, (%rd1, %rd2); call (q), %rd3, (%rd1, %rd2), P; }
brx.idx %r1, T;
A: tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];
B: ret;
}
)")));
  if (!parsed) {
    FAIL(render(parsed.error()));
  }
  check_round_trip(parsed->module);
}

TEST_CASE("the given kernels survive printing") {
  const char* shared = std::getenv("MANSARD_SHARED");
  if (shared == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(shared) + "/data/kernels")) {
    if (entry.path().extension() == ".ptx") {
      const Result<Parsed> parsed = parse_file(entry.path());
      REQUIRE(parsed);
      CHECK(parsed->warnings.empty());
      check_round_trip(parsed->module);
      ++files;
    }
  }
  CHECK(files >= 7);
}

TEST_CASE("one instruction prints as it would be written") {
  const Result<Parsed> parsed =
      parse(source_of(kernel_text("@!%p1 st.global.v2.f32 [%rd1+8], {%f1, %f2};")));
  REQUIRE(parsed);
  const Function& kernel = parsed->module.functions.front();
  CHECK(print(parsed->module, kernel, kernel.instructions.front()) ==
        "@!%p1 st.global.v2.f32 [%rd1+8], {%f1, %f2}");
}

}  // namespace
}  // namespace mansard::frontend::ptx
