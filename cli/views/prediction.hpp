#pragma once

#include <span>
#include <string>

#include "model/prediction.hpp"

/// Views of predictions: one struct in, text out.
namespace mansard::cli {

/// One machine: its ops and totals. Several: a comparison of totals, then of each op's estimate.
[[nodiscard]] std::string prediction_table(std::span<const model::Prediction> predictions);
/// `mansard.prediction/1`; a list if there are several.
[[nodiscard]] std::string prediction_json(std::span<const model::Prediction> predictions);
/// One line an op and machine, and one of totals (op "total").
[[nodiscard]] std::string prediction_csv(std::span<const model::Prediction> predictions);

}  // namespace mansard::cli
