#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/prediction.hpp"

/// Sentences and figures that the text views of predictions share.
namespace mansard::cli {

/// "llama3-8b decode, batch 16, context 2048, tp 2".
[[nodiscard]] std::string heading(const model::Prediction& prediction);
[[nodiscard]] std::string calibration_text(const model::Prediction& prediction);
/// What was assumed, a line each, behind `prefix`.
[[nodiscard]] std::string assumption_lines(const model::Prediction& prediction,
                                           std::string_view prefix = "assumed: ");
/// The op's part of the whole estimate, all its executions.
[[nodiscard]] double share(const model::OpPrediction& op, const model::Prediction& prediction);
[[nodiscard]] double memory_used(const model::Prediction& prediction);  ///< Bytes of one device.

/// Several machines: totals, then each op's estimate and what binds it.
[[nodiscard]] std::string prediction_comparison(std::span<const model::Prediction> predictions);

inline constexpr std::string_view kPredictionTerms =
    "op times, FLOP and bytes are of one execution on one GPU, x says how often; bound: no "
    "implementation is faster; [low, high]: 90 % of measurements; bytes: operands moved once; "
    "FLOP: 2 per "
    "multiply-add";

}  // namespace mansard::cli
