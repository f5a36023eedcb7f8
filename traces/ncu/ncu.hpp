#pragma once

#include <string_view>

#include "traces/read_report.hpp"

namespace mansard::traces {

/// Reads the CSV of Nsight Compute, both of its pages: long (`--csv`, a row per metric) and raw
/// (`--csv --page raw`, a row per launch, the second row holding units). Columns are found by name.
/// Lines of the profiler and of the program itself are passed over and counted.
[[nodiscard]] ReadReport read_ncu(std::string_view text, ir::TraceSink& sink);

}  // namespace mansard::traces
