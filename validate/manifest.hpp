#pragma once

#include <vector>

#include "ir/measurement.hpp"
#include "support/result.hpp"

namespace mansard::validate {

/// Rows that mansard-measure took (`source` says so) count only with the manifest.json that it
/// wrote beside them: under which driver, clocks and libraries. Rows of others pass. Errors: the
/// manifest is missing, is none, or is of another machine than the rows.
[[nodiscard]] Result<void> require_manifest(const std::vector<ir::Measurement>& rows);

}  // namespace mansard::validate
