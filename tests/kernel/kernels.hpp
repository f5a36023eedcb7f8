#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/ptx/lower/lower.hpp"
#include "frontend/ptx/parser.hpp"
#include "ir/kernel_flow.hpp"
#include "model/kernel/counts.hpp"
#include "model/kernel/totals.hpp"

namespace mansard::test {

/// A kernel of one body, lowered: parameters p0 (pointer), p1 (pointer), n and m (32 bits).
inline ir::Kernel kernel_of(std::string_view body, std::string_view declarations = "") {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  text += declarations;
  text += "\n.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 n, .param .u32 m)\n{\n";
  text +=
      ".reg .pred %p<20>;\n.reg .b32 %r<60>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<40>;\n.reg .f64 "
      "%fd<10>;\n";
  text += body;
  text += "\n}\n";
  auto parsed = frontend::ptx::parse(std::make_shared<const SourceFile>(SourceFile{"k.ptx", text}));
  if (!parsed) {
    throw std::runtime_error(render(parsed.error()));
  }
  return frontend::ptx::lower(parsed->module, *parsed->module.find_function("k"));
}

/// Counts with n and m bound.
inline model::kernel::Counts counts_of(const ir::Kernel& kernel, std::array<std::int64_t, 3> grid,
                                       std::array<std::int64_t, 3> block, std::int64_t n = 0,
                                       std::int64_t m = 0) {
  model::kernel::Launch launch{.grid = grid, .block = block};
  for (const ir::KernelParameter& each : kernel.parameters) {
    launch.arguments.push_back(each.name == "n"   ? std::optional(n)
                               : each.name == "m" ? std::optional(m)
                                                  : std::nullopt);
  }
  return model::kernel::count(kernel, ir::analyse_flow(kernel), launch);
}

inline model::kernel::Totals totals_of(const ir::Kernel& kernel, std::array<std::int64_t, 3> grid,
                                       std::array<std::int64_t, 3> block, std::int64_t n = 0,
                                       std::int64_t m = 0) {
  return model::kernel::totals_of(kernel, counts_of(kernel, grid, block, n, m));
}

}  // namespace mansard::test
