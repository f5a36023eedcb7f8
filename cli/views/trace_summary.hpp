#pragma once

#include <cstddef>
#include <string>

#include "cli/views/format.hpp"
#include "traces/analysis/summary.hpp"

/// Views of what a trace says. `mansard.trace/1`.
namespace mansard::cli {

/// At most `rows` kernels and ops, the greatest first.
[[nodiscard]] std::string trace_summary_table(const traces::Summary& summary, std::size_t rows);
[[nodiscard]] std::string trace_summary_json(const traces::Summary& summary);
/// One line a kernel name.
[[nodiscard]] std::string trace_summary_csv(const traces::Summary& summary);

/// Two traces of one workload side by side, kernels by short name and ops by name; the speed-up of
/// the second. `mansard.trace-comparison/1`.
[[nodiscard]] std::string trace_comparison(const traces::Summary& first,
                                           const traces::Summary& second, std::size_t rows,
                                           Format format);

}  // namespace mansard::cli
