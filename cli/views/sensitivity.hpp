#pragma once

#include <string>
#include <vector>

#include "model/sensitivity.hpp"

/// Views of sensitivities.
namespace mansard::cli {

struct SensitivityReport {
  std::string title;  ///< "llama3-8b decode, batch 1, context 2048 on h200-sxm".
  struct Part {
    std::string output;
    Dimension dimension;
    double value = 0;
    std::vector<model::Sensitivity> parameters;
  };
  std::vector<Part> parts;
};

[[nodiscard]] std::string sensitivity_table(const SensitivityReport& report);
/// `mansard.sensitivity/1`.
[[nodiscard]] std::string sensitivity_json(const SensitivityReport& report);
[[nodiscard]] std::string sensitivity_csv(const SensitivityReport& report);

}  // namespace mansard::cli
