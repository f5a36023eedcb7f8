#include <catch2/catch.hpp>

#include "frontend/ptx/interpreter/interpreter.hpp"
#include "ir/expr_eval.hpp"
#include "ir/kernel_formulas.hpp"
#include "tests/kernel/generated.hpp"
#include "tests/kernel/kernels.hpp"

namespace mansard::test {
namespace {

namespace ptx = frontend::ptx;

ptx::Module module_of(const std::string& text) {
  auto parsed = ptx::parse(std::make_shared<const SourceFile>(SourceFile{"k.ptx", text}));
  if (!parsed) {
    FAIL(render(parsed.error()) + text);
  }
  return std::move(parsed->module);
}

struct Sizes {
  std::uint32_t blocks;
  std::uint32_t threads;
  std::uint32_t n;
  std::uint32_t m;
};

/// Of all blocks, or of one.
ptx::Counts interpreted(const ptx::Module& module, const Sizes& sizes,
                        std::vector<std::uint64_t> blocks = {}) {
  ptx::Memory memory;
  const ptx::Launch launch = {
      .grid = {sizes.blocks},
      .block = {sizes.threads},
      .arguments = {{"p0", memory.allocate(kGeneratedBytes)}, {"n", sizes.n}, {"m", sizes.m}},
      .blocks = std::move(blocks)};
  auto counts = ptx::interpret(module, module.functions.front(), launch, memory);
  if (!counts) {
    FAIL(render(counts.error()));
  }
  return *counts;
}

/// Threads that execute what is no branch: of a branch the interpreter counts those that take it.
double beside_branches(const ptx::Module& module, const ptx::Counts& counts) {
  double threads = 0;
  const auto& instructions = module.functions.front().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    threads +=
        instructions[i].opcode() == "bra" ? 0 : static_cast<double>(counts.instructions[i].threads);
  }
  return threads;
}

double beside_branches(const ir::Kernel& kernel, const model::kernel::Counts& counts) {
  double threads = 0;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const ir::InstructionClass& kind = kernel.classes[kernel.instructions[i].kind];
    threads += kind.name.starts_with("bra") ? 0 : counts.thread[i] * kind.written;
  }
  return threads;
}

void compare(const ptx::AccessCounts& run, const model::kernel::GlobalTotals& formula) {
  CHECK(formula.requests == static_cast<double>(run.requests));
  CHECK(formula.sectors == static_cast<double>(run.sectors));
  CHECK(formula.bytes == static_cast<double>(run.bytes));
}

void compare(const ptx::AccessCounts& run, const model::kernel::SharedTotals& formula) {
  CHECK(formula.requests == static_cast<double>(run.requests));
  CHECK(formula.wavefronts == static_cast<double>(run.wavefronts));
  CHECK(formula.bank_conflicts == static_cast<double>(run.bank_conflicts));
}

/// How often a thread ran the header of a loop.
double runs_of(const ptx::Module& module, const ptx::Counts& run, const ir::Kernel& kernel,
               std::uint32_t header) {
  const std::uint32_t position = kernel.instructions[kernel.blocks[header].first].position;
  const auto& instructions = module.functions.front().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i].position == position) {
      return static_cast<double>(run.instructions[i].warps);
    }
  }
  return -1;
}

}  // namespace

TEST_CASE("trip counts of generated loops are what a thread runs", "[kernel]") {
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const ptx::Module module = module_of(generated_kernel(seed));
    const ir::Kernel kernel = ptx::lower(module, module.functions.front());
    const ir::KernelFlow flow = ir::analyse_flow(kernel);
    const ir::KernelFormulas formulas = ir::formulas_of(kernel, flow);
    CAPTURE(seed);
    CHECK(formulas.unknowns.empty());
    for (const std::uint32_t block : {0U, 5U}) {
      const ptx::Counts run = interpreted(module, {9, 1, 29, 6}, {block});
      for (std::uint32_t loop = 0; loop < flow.loops.size(); ++loop) {
        const double runs = runs_of(module, run, kernel, flow.loops[loop].header);
        if (flow.loops[loop].parent != ir::kNothing || runs == 0) {
          continue;
        }
        CHECK(ir::value(formulas.regions[loop + 1].trips, {{"tid.x", 0},
                                                           {"ctaid.x", block},
                                                           {"ntid.x", 1},
                                                           {"nctaid.x", 9},
                                                           {"n", 29},
                                                           {"m", 6}}) == runs);
        ++compared;
      }
    }
  }
  CHECK(compared > 300);
}

TEST_CASE("static counts of generated kernels are what the interpreter counts", "[kernel]") {
  const Sizes launches[] = {{1, 32, 7, 3}, {3, 96, 20, 9}, {7, 50, 100, 5}};
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const std::string text = generated_kernel(seed);
    const ptx::Module module = module_of(text);
    const ir::Kernel kernel = ptx::lower(module, module.functions.front());
    for (const Sizes& sizes : launches) {
      CAPTURE(seed, sizes.blocks, sizes.threads);
      const ptx::Counts run = interpreted(module, sizes);
      const auto counts =
          counts_of(kernel, {sizes.blocks, 1, 1}, {sizes.threads, 1, 1}, sizes.n, sizes.m);
      const model::kernel::Totals totals = model::kernel::totals_of(kernel, counts);
      CHECK(totals.ptx_warp_instructions == static_cast<double>(run.warp_instructions));
      CHECK(beside_branches(kernel, counts) == beside_branches(module, run));
      CHECK(totals.flops_fp32 == static_cast<double>(run.flops.fp32));
      compare(run.global_load, totals.global_load);
      compare(run.global_store, totals.global_store);
      compare(run.shared_load, totals.shared_load);
      compare(run.shared_store, totals.shared_store);
    }
  }
}

}  // namespace mansard::test
