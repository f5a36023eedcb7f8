#pragma once

#include <string>
#include <vector>

#include "validate/calibrate.hpp"

namespace mansard::cli {

/// What was fitted, and how well rows are met that the fit did not see.
[[nodiscard]] std::string calibration_table(const std::vector<validate::ImplementationFit>& fits);

}  // namespace mansard::cli
