#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.hpp"
#include "ir/kernel_formulas.hpp"
#include "model/kernel/analysis.hpp"

namespace mansard::cli {

/// What demand a source line has.
struct LineDemand {
  std::uint32_t line = 0;
  double warp_instructions = 0;
  double flops = 0;
  double global_sectors = 0;
  double shared_wavefronts = 0;
  double bank_conflicts = 0;
};

/// One launch on one machine, as the views show it.
struct KernelAnswer {
  model::kernel::Report report;
  std::string case_name;
  std::optional<double> measured_s;
  std::vector<LineDemand> lines;  ///< With --by-line.
  std::shared_ptr<const ir::KernelFormulas> formulas;
};

[[nodiscard]] std::string kernel_table(const std::vector<KernelAnswer>& answers);
/// `mansard.kernel/1`.
[[nodiscard]] std::string kernel_json(const std::vector<KernelAnswer>& answers);
[[nodiscard]] std::string kernel_csv(const std::vector<KernelAnswer>& answers);

/// A kernel without a launch: what a thread does, region by region, as formulas.
[[nodiscard]] std::string formulas_table(const ir::Kernel& kernel,
                                         const ir::KernelFormulas& formulas);
[[nodiscard]] std::string formulas_json(const ir::Kernel& kernel,
                                        const ir::KernelFormulas& formulas);
[[nodiscard]] std::string formulas_csv(const ir::Kernel& kernel,
                                       const ir::KernelFormulas& formulas);

}  // namespace mansard::cli
