#include "frontend/ptx/parser.hpp"

#include <bit>
#include <string>

#include <catch2/catch.hpp>

#include "tests/frontend/ptx/text.hpp"

namespace mansard::frontend::ptx {
namespace {

Module read(const std::string& text) {
  Result<Parsed> parsed = parse(source_of(text));
  if (!parsed) {
    FAIL(render(parsed.error()));
  }
  return std::move(parsed->module);
}

std::string errors_of(const std::string& text) {
  const Result<Parsed> parsed = parse(source_of(text));
  return parsed ? "" : render(parsed.error());
}

TEST_CASE("an instruction keeps its opcode, modifiers, guard and operands") {
  const Module module = read(kernel_text("@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+16];"));
  const Function& kernel = module.functions.at(0);
  const Instruction& load = kernel.instructions.at(0);
  CHECK(load.opcode() == "ld");
  CHECK(load.form->modifiers == std::vector<std::string_view>{"global", "v2", "f32"});
  CHECK(load.form->space == Space::kGlobal);
  CHECK(load.form->vector_width == 2);
  CHECK(load.form->type() == Type::kF32);
  CHECK(load.guard.negated);
  CHECK(kernel.reg(load.guard.predicate).name == "%p1");
  const Operand& address = kernel.operand(load, 1);
  CHECK(address.kind == OperandKind::kAddress);
  CHECK(address.value == 16);
  CHECK(kernel.reg(kernel.children(address)[0].as<RegisterId>()).name == "%rd1");
  CHECK(kernel.children(kernel.operand(load, 0)).size() == 2);
}

TEST_CASE("only registers that are used exist") {
  const Module module = read(module_text(
      ".entry k { .reg .b32 %r<1000000000>; mov.b32 %r7, 1; add.s32 %r7, %r7, %r999999999; }"));
  CHECK(module.functions.at(0).registers.size() == 2);
}

TEST_CASE("a label may follow the branch, out of an inner block too") {
  const Module module = read(kernel_text("{ bra L; } mov.b32 %r1, 2; L: ret;"));
  const Function& kernel = module.functions.at(0);
  const Operand& target = kernel.operand(kernel.instructions.at(0), 0);
  REQUIRE(target.kind == OperandKind::kLabel);
  CHECK(kernel.label(target.as<LabelId>()).target == static_cast<InstructionId>(2));
}

TEST_CASE("constant expressions are folded as 64-bit integers") {
  const Module module =
      read(kernel_text("mov.b32 %r1, (1 << 4) + 3 * 2; mov.b32 %r1, 1 ? -7 : 0;"
                       "mov.b64 %rd1, 0xffffffffffffffff;"));
  const Function& kernel = module.functions.at(0);
  CHECK(kernel.operand(kernel.instructions.at(0), 1).value == 22);
  CHECK(kernel.operand(kernel.instructions.at(1), 1).value == -7);
  CHECK(kernel.operand(kernel.instructions.at(2), 1).is_unsigned);
}

TEST_CASE("floating-point constants keep their bits") {
  const Module module = read(kernel_text("mov.f32 %f1, 0f3F800000; mov.f64 %fd1, 2.5;"));
  const Function& kernel = module.functions.at(0);
  CHECK(kernel.operand(kernel.instructions.at(0), 1).value == 0x3F800000);
  CHECK(kernel.operand(kernel.instructions.at(1), 1).value == std::bit_cast<std::int64_t>(2.5));
}

TEST_CASE("an undefined register is refused at its place") {
  const std::string text = errors_of(kernel_text("mov.b32 %r1, %r99;"));
  CHECK(text.find("test.ptx:12:14: error: undefined register '%r99' [ptx-undefined]") == 0);
}

TEST_CASE("all errors of a file are reported at once") {
  const std::string text = errors_of(kernel_text("mov.b32 %q, 1;\nbra nowhere;\nmov.b32 %r1 2;"));
  CHECK(text.find("undefined register '%q'") != std::string::npos);
  CHECK(text.find("undefined label 'nowhere'") != std::string::npos);
  CHECK(text.find("expected ';'") != std::string::npos);
}

TEST_CASE("a truncated file is refused, wherever it ends") {
  const std::string whole = kernel_text("ld.param.u32 %r1, [n]; L: @%p1 bra L; ret;");
  for (std::size_t size = whole.find(".visible") + 1; size + 2 < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(!errors_of(whole.substr(0, size)).empty());
  }
}

}  // namespace
}  // namespace mansard::frontend::ptx
