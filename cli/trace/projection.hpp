#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "cli/trace/kernel_models.hpp"
#include "cli/verb.hpp"
#include "ir/timeline.hpp"
#include "model/project/replay.hpp"
#include "traces/dataset/timeline.hpp"

/// A trace on another machine, and how it is shown.
namespace mansard::cli {

struct ProjectOptions {
  std::string dataset;
  std::string from;  ///< "": the machine that the trace names.
  std::string to;
  MachineOptions machine;  ///< `--set` and the like, of the machine that is projected to.
  TraceModel model;
  std::vector<std::string> measurements;
  std::string output;
  std::string chrome;
  double host_scale = 1;
  std::size_t queue = 1024;
  std::size_t rows = 25;
  Format format = Format::kTable;
};

/// The options of the machine that a projection starts from: nothing is changed there.
[[nodiscard]] MachineOptions unchanged(const ProjectOptions& options, const std::string& name);

/// Kernels of one name whose models were found in one way.
struct ProjectedSum {
  std::string kind;
  std::string how;
  std::string binding;
  std::int64_t kernels = 0;
  double measured = 0;
  double projected = 0;
  double low = 0;
  double high = 0;
};

/// Stretches of the critical path of one sort, in seconds.
struct PathSum {
  double measured = 0;
  double projected = 0;
};

struct Projection {
  std::string from;
  std::string to;
  double host_scale = 1;
  ir::Timeline timeline;
  std::vector<traces::PredictionRow> rows;
  std::map<std::pair<std::string, std::string>, ProjectedSum> sums;  ///< By short name and way.
  std::map<std::string, PathSum> path;                               ///< By cause.
  std::map<std::string, PathSum> path_kernels;  ///< Activities on it, by short name.
  std::map<std::string, double> unknown;        ///< Measured seconds of unclassified kernels.
  double measured_span = 0;                     ///< From the first to the end of the last activity.
  double projected_span = 0;
  double low_span = 0;
  double high_span = 0;
  ProjectedSum total;
};

/// Errors: no machine, a figure that it lacks, a model that cannot be read.
[[nodiscard]] Result<Projection> project(const ir::Timeline& timeline,
                                         const ProjectOptions& options);

[[nodiscard]] Outcome shown(const Projection& projection, const ProjectOptions& options);

/// Rows measured on both machines, each projected from one to the other, against what was measured
/// there.
[[nodiscard]] Outcome check_projection(const ProjectOptions& options);

}  // namespace mansard::cli
