#pragma once

#include <string>
#include <vector>

#include "ir/measurement.hpp"
#include "support/result.hpp"
#include "validate/compare.hpp"

namespace mansard::cli {

/// All rows of all files; every error of every file at once.
[[nodiscard]] Result<std::vector<ir::Measurement>> read_measurement_files(
    const std::vector<std::string>& paths);

/// Models of steps: built-in by name, unless one of `given` ("NAME=config.json") names a file.
[[nodiscard]] validate::ModelSource step_models(const std::vector<std::string>& given);

}  // namespace mansard::cli
