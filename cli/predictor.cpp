#include "cli/predictor.hpp"

namespace mansard::cli {

Result<model::Predictor> build_predictor(const ModelOptions& model, const MachineOptions& options) {
  const auto graph = load_model(model);
  return build_predictor(graph.map([](const ir::Graph& loaded) { return &loaded; }), model,
                         options);
}

Result<model::Predictor> build_predictor(const Result<const ir::Graph*>& graph,
                                         const ModelOptions& model, const MachineOptions& options) {
  const auto plan = plan_of(model);
  const auto machine = load(options.machines.front(), options);
  Diagnostics errors;
  const auto note = [&](const auto& result) {
    if (!result) {
      errors.insert(errors.end(), result.error().begin(), result.error().end());
    }
  };
  note(plan);
  note(graph);
  note(machine);
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  const auto calibration = load_calibration(*machine, options);
  if (!calibration) {
    return failure(calibration.error());
  }
  return model::Predictor::build(**graph, *machine, *calibration, *plan, cost_options(options));
}

}  // namespace mansard::cli
