#include <string>

#include <catch2/catch.hpp>

#include "frontend/ptx/parser.hpp"
#include "tests/frontend/ptx/text.hpp"

// What ptxas 13.0 does with each text was observed, not deduced.
namespace mansard::frontend::ptx {
namespace {

bool accepts(const std::string& text, const ParseOptions& options = {}) {
  return parse(source_of(text), options).has_value();
}

std::string error_of(const std::string& body) {
  const Result<Parsed> parsed = parse(source_of(kernel_text(body)));
  return parsed ? "" : parsed.error().front().id + ": " + parsed.error().front().message;
}

TEST_CASE("modifiers may stand in any order, as ptxas takes them") {
  CHECK(error_of("ld.f32.global %f1, [%rd1]; add.s32.sat %r1, %r2, %r3;"
                 "cvt.f32.rn.s32 %f1, %r1; add.ftz.rn.f32 %f1, %f2, %f3;")
            .empty());
}

TEST_CASE("the part of an opcode that its name holds comes first") {
  CHECK(error_of("mul.lo.s32 %r1, %r2, %r3;").empty());
  CHECK_FALSE(error_of("mul.s32.lo %r1, %r2, %r3;").empty());
}

TEST_CASE("a wrong modifier is refused") {
  CHECK(error_of("add.ftz.f64 %fd1, %fd2, %fd3;") ==
        "ptx-modifier: modifier '.f64' does not fit 'add'");
  CHECK(error_of("mul.s32 %r1, %r2, %r3;") != "");
  CHECK(error_of("cvt.s32.f32 %r1, %f1;") ==
        "ptx-modifier: a conversion to an integer needs a rounding such as .rzi");
  CHECK(error_of("ld.acquire.global.u32 %r1, [%rd1];") ==
        "ptx-modifier: 'ld' lacks a modifier: expected .cta .cluster .gpu .sys");
}

TEST_CASE("a register of another kind or width is refused") {
  CHECK(error_of("add.s32 %r1, %f2, %r3;") ==
        "ptx-operand: expected a value of type .s32, found '%f2' of type .f32");
  CHECK_FALSE(error_of("mov.b32 %rd1, %r2;").empty());
  CHECK_FALSE(error_of("ld.global.u64 %r1, [%rd1];").empty());
  CHECK(error_of("ld.global.u32 %rd1, [%rd1]; and.b32 %f1, %f2, %r3; mov.b32 %r1, %f1;").empty());
}

TEST_CASE("a wrong number of operands is refused") {
  CHECK(error_of("add.s32 %r1, %r2;") == "ptx-operand: 'add' takes 3 operands, found 2");
  CHECK_FALSE(error_of("st.global.v4.f32 [%rd1], {%f1, %f2, %f3};").empty());
  CHECK_FALSE(error_of("setp.lt.and.s32 %p1, %r1, %r2;").empty());
}

TEST_CASE("a number of the wrong kind is refused") {
  CHECK_FALSE(error_of("add.f32 %f1, %f2, 1;").empty());
  CHECK_FALSE(error_of("add.s32 %r1, %r2, 1.5;").empty());
  CHECK(error_of("mov.b32 %r1, 0f3F800000; add.f32 %f1, %f2, .5;").empty());
}

TEST_CASE("special registers are for mov and cvt") {
  CHECK(error_of("mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %tid.x;").empty());
  CHECK_FALSE(error_of("add.u32 %r1, %tid.x, %r2;").empty());
  CHECK_FALSE(error_of("mov.u32 %r1, %tid;").empty());
}

TEST_CASE("an instruction needs its version and architecture") {
  const std::string entry = ".entry k { .reg .b32 %r<3>; redux.sync.add.s32 %r1, %r2, -1; }";
  CHECK(accepts(".version 7.0\n.target sm_80\n" + entry));
  CHECK_FALSE(accepts(".version 7.0\n.target sm_75\n" + entry));
  CHECK_FALSE(accepts(".version 6.5\n.target sm_75\n" + entry));
}

TEST_CASE("a target needs its version") {
  CHECK(accepts(".version 7.8\n.target sm_90\n.entry k { ret; }"));
  CHECK_FALSE(accepts(".version 7.7\n.target sm_90\n.entry k { ret; }"));
  CHECK_FALSE(accepts(".version 8.0\n.target sm_91\n.entry k { ret; }"));
  CHECK_FALSE(accepts(".version 8.9\n.target sm_90\n.entry k { ret; }"));
}

TEST_CASE("32-bit PTX is refused by name") {
  const Result<Parsed> parsed =
      parse(source_of(".version 8.0\n.target sm_90\n.address_size 32\n.entry k { ret; }"));
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().front().id == "ptx-address-size");
}

TEST_CASE("an unknown opcode is kept with a warning, a misspelt one refused") {
  const std::string unknown = kernel_text("frobnicate.sync.u32 %r1, [%rd1], {%r2, %r3};");
  const Result<Parsed> parsed = parse(source_of(unknown));
  REQUIRE(parsed);
  REQUIRE(parsed->warnings.size() == 1);
  CHECK(parsed->warnings.front().message == "unknown instruction 'frobnicate'");
  CHECK_FALSE(parsed->module.functions.front().instructions.front().form->known);
  CHECK_FALSE(accepts(unknown, {.unknown_opcodes = UnknownOpcodes::kRefuse}));
  CHECK(error_of("shfll.sync.idx.b32 %r1, %r2, %r3, 31, -1;") ==
        "ptx-opcode: unknown instruction 'shfll'");
}

TEST_CASE("declarations that contradict each other are refused") {
  CHECK_FALSE(accepts(module_text(".entry k { ret; } .entry k { ret; }")));
  CHECK_FALSE(accepts(module_text(".global .u32 a; .global .u32 a;")));
  CHECK_FALSE(accepts(module_text(".shared .u32 a = 1;")));
  CHECK_FALSE(accepts(module_text(".global .u32 a[];")));
  CHECK_FALSE(accepts(module_text(".func f(.param .b32 a); .func f(.param .b64 a) { ret; }")));
  CHECK_FALSE(accepts(module_text(".func f(.param .b32 a) { ret; } .entry k { call f; ret; }")));
  CHECK(accepts(module_text(".extern .shared .b8 a[]; .extern .shared .b8 a[];")));
}

TEST_CASE("a cubin is refused as no text") {
  const Result<Parsed> parsed =
      parse(source_of(std::string("\x7f"
                                  "ELF\x02\x01\x01\x00",
                                  8)));
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().front().id == "text-control");
}

TEST_CASE("deep nesting is refused, not a crash") {
  CHECK_FALSE(accepts(kernel_text("mov.b32 %r1, " + std::string(100000, '(') + "1;")));
  CHECK_FALSE(accepts(kernel_text("mov.b32 %r1, " + std::string(100000, '-') + "1;")));
  CHECK_FALSE(accepts(kernel_text(std::string(100000, '{'))));
  CHECK_FALSE(accepts(kernel_text("mov.b32 %r1, " + std::string(100000, '[') + "1;")));
  CHECK_FALSE(accepts(module_text(".global .u32 a[1] = " + std::string(100000, '{') + "1;")));
}

}  // namespace
}  // namespace mansard::frontend::ptx
