#pragma once

#include <string>

#include "ir/timeline.hpp"
#include "traces/dataset/sqlite.hpp"

namespace mansard::traces {

/// The timeline of all runs of a dataset; runs that hold counters only are left out unless there is
/// nothing else.
[[nodiscard]] Result<ir::Timeline> read_timeline(Database& dataset);

/// A projection of one activity.
struct PredictionRow {
  std::int64_t kernel = 0;
  std::string machine;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  std::string binding;
  std::string kind;       ///< Class of the kernel.
  std::string how;        ///< How its model was found.
  bool critical = false;  ///< It lies on the critical path.
};

/// A copy of a dataset with the times of `timeline` (same activities and calls) and predictions;
/// its devices are `machine`.
[[nodiscard]] Result<void> write_projected(const std::string& from, const std::string& to,
                                           const std::string& machine, const ir::Timeline& timeline,
                                           const std::vector<PredictionRow>& predictions);

}  // namespace mansard::traces
