#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ir/measurement.hpp"
#include "support/result.hpp"

namespace mansard::validate {

/// Reads a measurement file: CSV (RFC 4180) with a header that has at least machine,
/// implementation, mode, op and median_us. Columns with numbers become `dims`; empty cells are
/// absent. Errors: missing columns, ragged rows, times that are not positive numbers, each with its
/// place; all of a file at once (the first twenty).
[[nodiscard]] Result<std::vector<ir::Measurement>> read_measurements(
    std::shared_ptr<const SourceFile> file);

/// Whether a numeric column says what was run, not how it went: no time, clock, power, temperature,
/// number of trials or calls.
[[nodiscard]] bool describes_shape(std::string_view column);

}  // namespace mansard::validate
