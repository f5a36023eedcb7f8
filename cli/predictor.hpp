#pragma once

#include "cli/options.hpp"
#include "model/prediction.hpp"

/// From options to a model on a machine.
namespace mansard::cli {

/// The model on the first of the machines, with its calibration; all errors of all of them.
[[nodiscard]] Result<model::Predictor> build_predictor(const ModelOptions& model,
                                                       const MachineOptions& options);
/// The same, of a graph that was loaded before.
[[nodiscard]] Result<model::Predictor> build_predictor(const Result<const ir::Graph*>& graph,
                                                       const ModelOptions& model,
                                                       const MachineOptions& options);

}  // namespace mansard::cli
