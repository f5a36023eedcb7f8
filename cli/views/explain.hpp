#pragma once

#include <string>

#include "model/cost_model.hpp"
#include "model/prediction.hpp"

namespace mansard::cli {

/// For each op: its counts as formulas with the numbers put in, each term of its bound as demand /
/// capacity, the ridge point beside its intensity, what would have to change for another resource
/// to bind, and the profiler metric that would confirm or refute the diagnosis. `kernel_alone` is
/// the same model in `Mode::kKernel`: metrics are of a kernel, not of the time that its launch
/// takes.
[[nodiscard]] std::string explanation(const model::Prediction& prediction,
                                      const model::Predictor& predictor,
                                      const model::CostModel& kernel_alone);

}  // namespace mansard::cli
