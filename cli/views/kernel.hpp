#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.hpp"
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
};

[[nodiscard]] std::string kernel_table(const std::vector<KernelAnswer>& answers);
/// `mansard.kernel/1`.
[[nodiscard]] std::string kernel_json(const std::vector<KernelAnswer>& answers);
[[nodiscard]] std::string kernel_csv(const std::vector<KernelAnswer>& answers);

}  // namespace mansard::cli
