#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "ir/kernel.hpp"
#include "ir/kernel_flow.hpp"
#include "model/kernel/counts.hpp"
#include "model/kernel/occupancy.hpp"
#include "model/kernel/totals.hpp"
#include "model/kernel/traffic.hpp"
#include "support/result.hpp"

/// A launch of a kernel on a machine: what it asks, what binds it, how long it takes, why.
///
///     auto report = analyse(kernel, analyse_flow(kernel), launch, machine, resources);
namespace mansard::model::kernel {

/// One resource: how long it is busy.
struct Term {
  std::string name;  ///< "issue", "shared", "hbm", "latency", ...
  double bound_s =
      0;  ///< Demand over capacity at the greatest clock; 0 if it bounds nothing for sure.
  double estimate_s = 0;
};

/// What is wrong, how one would see it, and what to write instead.
struct Finding {
  std::string what;
  std::string metric;   ///< Of Nsight Compute, that would confirm it.
  std::string rewrite;  ///< "" if there is nothing to change.
};

struct Ceiling {
  std::string name;
  double intensity = 0;  ///< FLOP per byte; warp instructions per sector.
  double ridge = 0;      ///< Where the machine's ceilings meet.
};

/// What each further iteration of a loop of unknown count adds.
struct Slope {
  std::uint32_t loop = 0;
  std::string name;  ///< "trip_L1"
  Totals totals;
};

struct Report {
  std::string kernel;
  std::string machine;
  Launch launch;
  Resources resources;
  Occupancy occupancy;
  Totals totals;
  std::vector<Slope> slopes;
  Traffic traffic;
  double dram_bytes = 0;
  std::vector<Term> terms;
  std::string binding;
  double bound_s = 0;
  double estimate_s = 0;
  double low_s = 0;
  double high_s = 0;
  double launch_s = 0;
  double chain_cycles = 0;              ///< What one warp takes by itself.
  std::vector<Ceiling> roofline;        ///< FLOP per byte at each level.
  std::optional<Ceiling> instructions;  ///< The instruction roofline.
  double instruction_ceiling = 0;       ///< Warp instructions a second.
  double instruction_rate = 0;          ///< Of the estimate.
  double divergent_share = 0;           ///< Of lanes, idle in executed instructions.
  std::vector<std::string> assumptions;
  std::vector<std::string>
      unknowns;  ///< Parameters and loop counts that the counts need and nobody gave.
  std::vector<Finding> diagnosis;
};

/// Errors: as `occupancy`; a machine without clocks.
[[nodiscard]] Result<Report> analyse(const ir::Kernel& kernel, const ir::KernelFlow& flow,
                                     const Launch& launch, const hardware::Machine& machine,
                                     const Resources& resources);

/// Time and what binds; part of `analyse`.
void estimate_time(const ir::Kernel& kernel, const ir::KernelFlow& flow, const Counts& counts,
                   const hardware::Machine& machine, Report& report);
/// Findings in words; part of `analyse`.
void diagnose(const ir::Kernel& kernel, const ir::KernelFlow& flow, const Counts& counts,
              Report& report);

/// What to call a parameter: its alias, else its name in the file.
[[nodiscard]] std::string display_name(const ir::KernelParameter& parameter);

}  // namespace mansard::model::kernel
