#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "frontend/ptx/lower/lower.hpp"
#include "frontend/ptx/parser.hpp"
#include "ir/kernel_formulas.hpp"
#include "model/kernel/counts.hpp"
#include "model/kernel/totals.hpp"

namespace mansard {
namespace {

/// A matrix product in the manner of CUTLASS: a loop over k of asynchronous copies, ldmatrix and
/// mma.sync, all unrolled, about `lines` lines long, with an epilogue that stores what it has.
std::string matmul(int lines) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 tile[];\n"
      ".visible .entry gemm(.param .u64 a, .param .u64 c, .param .u32 n, .param .u32 k)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<260>;\n"
      "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [c];\nld.param.u32 %r1, [n];\n"
      "ld.param.u32 %r2, [k];\nmov.u32 %r3, %tid.x;\nmov.u32 %r4, %ctaid.x;\n"
      "mov.u32 %r5, %ctaid.y;\nmov.u32 %r6, tile;\nshl.b32 %r7, %r3, 4;\n"
      "add.s32 %r8, %r6, %r7;\nshl.b32 %r9, %r4, 7;\nadd.s32 %r10, %r9, %r3;\n"
      "mul.lo.s32 %r11, %r10, %r2;\nmul.wide.s32 %rd3, %r11, 2;\nadd.s64 %rd4, %rd1, %rd3;\n"
      "mov.u32 %r12, 0;\n";
  for (int i = 0; i < 256; ++i) {
    text += fmt::format("mov.f32 %f{}, 0f00000000;\n", i);
  }
  text += "LOOP:\n";
  const int bodies = std::max(1, (lines - 600) / 14);
  for (int body = 0; body < bodies; ++body) {
    const int at = body % 64 * 4;
    text += fmt::format("cp.async.cg.shared.global [%r8+{}], [%rd4+{}], 16;\n", at * 16, at * 2);
    text += "cp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\n";
    text += fmt::format(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r20, %r21, %r22, %r23}}, [%r8+{}];\n", at * 8);
    text +=
        fmt::format("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{%r24, %r25}}, [%r8+{}];\n", at * 4);
    for (int each = 0; each < 8; ++each) {
      const int f = (at + each * 4) % 256;
      text += fmt::format(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f{0}, %f{1}, %f{2}, %f{3}}}, "
          "{{%r20, %r21, %r22, %r23}}, {{%r24, %r25}}, {{%f{0}, %f{1}, %f{2}, %f{3}}};\n",
          f, f + 1, f + 2, f + 3);
    }
  }
  text +=
      "add.s64 %rd4, %rd4, 64;\nadd.s32 %r12, %r12, 32;\nsetp.lt.s32 %p1, %r12, %r2;\n"
      "@%p1 bra LOOP;\nmul.lo.s32 %r13, %r10, %r1;\nmad.lo.s32 %r14, %r5, 128, %r13;\n"
      "mul.wide.s32 %rd5, %r14, 4;\nadd.s64 %rd6, %rd2, %rd5;\n";
  for (int i = 0; i < 256; ++i) {
    text += fmt::format("st.global.f32 [%rd6+{}], %f{};\n", i * 4, i);
  }
  return text + "ret;\n}\n";
}

void parse(benchmark::State& state) {
  const auto source = std::make_shared<const SourceFile>(
      SourceFile{"gemm.ptx", matmul(static_cast<int>(state.range(0)))});
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(frontend::ptx::parse(source));
  }
  state.counters["bytes"] = static_cast<double>(source->text.size());
}

/// From text to counts and formulas.
void parse_and_analyse(benchmark::State& state) {
  const auto source = std::make_shared<const SourceFile>(
      SourceFile{"gemm.ptx", matmul(static_cast<int>(state.range(0)))});
  while (state.KeepRunning()) {
    const auto parsed = frontend::ptx::parse(source);
    const frontend::ptx::Module& module = parsed->module;
    const ir::Kernel kernel = frontend::ptx::lower(module, module.functions.front());
    const ir::KernelFlow flow = ir::analyse_flow(kernel);
    const ir::KernelFormulas formulas = ir::formulas_of(kernel, flow);
    model::kernel::Launch launch{
        .grid = {32, 32, 1}, .block = {256, 1, 1}, .dynamic_shared = 65536};
    launch.arguments.assign(kernel.parameters.size(), 4096);
    benchmark::DoNotOptimize(
        model::kernel::totals_of(kernel, model::kernel::count(kernel, flow, launch)));
  }
  state.counters["bytes"] = static_cast<double>(source->text.size());
}

BENCHMARK(parse)->Arg(700)->Arg(14000)->Unit(benchmark::kMillisecond);
BENCHMARK(parse_and_analyse)->Arg(700)->Arg(14000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mansard
