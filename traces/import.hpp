#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace mansard::traces {

/// What became of the files, in their order.
struct ImportReport {
  struct Line {
    std::string what;
    std::int64_t events = 0;
    bool kept = false;
  };
  struct File {
    std::string name;
    std::string format;
    std::int64_t text_bytes = 0;
    std::int64_t kernels = 0;
    std::int64_t linked = 0;  ///< Kernels whose launch is known.
    std::int64_t in_op = 0;   ///< Kernels whose op is known.
    std::vector<Line> lines;
  };
  std::vector<File> files;
  /// Kernels of runs without a timeline, where there is one with, and how many of them it has too.
  std::int64_t counter_kernels = 0;
  std::int64_t matched = 0;
  std::int64_t verified = 0;   ///< Of those matched, by the order of launches.
  bool clocks_locked = false;  ///< Of a run of counters: its times are not those of a free run.
  /// Kernels of one name, grid and block that have no match on the other side.
  struct Unmatched {
    std::string name;
    std::string grid;  ///< "(1024, 1, 1) x (256, 1, 1)".
    bool timed = false;
    std::int64_t kernels = 0;
  };
  std::vector<Unmatched> unmatched;
  Diagnostics errors;  ///< Where files break off; what came before is in the dataset.
};

/// Reads profiler files of any known format into a new dataset at `path`. Errors: a file that
/// cannot be read at all, or is of no known format; then no dataset is written.
[[nodiscard]] Result<ImportReport> import_files(std::span<const std::string> files,
                                                const std::string& path);

}  // namespace mansard::traces
