#pragma once

#include <string>

#include "validate/compare.hpp"

namespace mansard::cli {

[[nodiscard]] std::string validation_table(const validate::Report& report);
/// `mansard.validation/1`.
[[nodiscard]] std::string validation_json(const validate::Report& report);
/// One line a row: what was measured and what the model says.
[[nodiscard]] std::string validation_csv(const validate::Report& report);

}  // namespace mansard::cli
