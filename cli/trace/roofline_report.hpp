#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/trace/kernel_models.hpp"
#include "hardware/machine.hpp"
#include "ir/kernel_work.hpp"
#include "model/project/ceilings.hpp"
#include "traces/dataset/sqlite.hpp"

/// The rooflines of a trace's kernels, and what they add up to.
namespace mansard::cli {

/// Kernels of one short name and op.
struct RooflineGroup {
  std::string name;
  std::string op;
  std::int64_t kernels = 0;
  double seconds = 0;
  double headroom_s = 0;
  double bound_s = 0;   ///< Time that their binding ceilings alone would take.
  std::string binding;  ///< Of the kernel that takes longest.
  std::string bound;    ///< Of that kernel: "memory", "compute", ...
  double longest = 0;   ///< Seconds of it.
  [[nodiscard]] double attained() const { return seconds > 0 ? bound_s / seconds : 0; }
};

struct RooflineReport {
  hardware::Machine machine;
  std::vector<ir::KernelWork> work;
  std::vector<model::KernelRoofline> kernels;  ///< Those first that would save most.
  std::vector<RooflineGroup> groups;           ///< Likewise.
  double seconds = 0;
  double classified = 0;                  ///< Share of the time whose op class is known.
  std::map<std::string, double> bound;    ///< Shares of the time by what binds.
  std::map<std::string, double> nearest;  ///< Likewise by the ceiling that is nearest.
  std::int64_t locked = 0;                ///< Kernels whose times are of locked clocks.
};

/// Work is that of counters where the dataset has any, else of the ops of a model, else of recorded
/// shapes. Errors: no machine; a dataset that cannot be read.
[[nodiscard]] Result<RooflineReport> roofline_report(traces::Database& database,
                                                     const MachineOptions& machine,
                                                     const TraceModel& model);

[[nodiscard]] std::string roofline_table(const RooflineReport& report, std::size_t rows, bool each);
[[nodiscard]] std::string roofline_json(const RooflineReport& report);
[[nodiscard]] std::string roofline_csv(const RooflineReport& report, bool each);
/// Two machines side by side: kernels and ops, speed-ups, shares of the ceilings.
[[nodiscard]] std::string roofline_comparison(const RooflineReport& first,
                                              const RooflineReport& second, std::size_t rows,
                                              Format format);

/// Time over the roofline plane as SVG: of FLOP per byte, or of warp instructions per sector.
enum class RooflinePlot : std::uint8_t { kFlops, kInstructions };
[[nodiscard]] std::string roofline_svg(const RooflineReport& report, RooflinePlot plot);

}  // namespace mansard::cli
