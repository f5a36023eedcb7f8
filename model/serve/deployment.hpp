#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/serve/service.hpp"
#include "model/serve/step_model.hpp"
#include "support/result.hpp"

/// From a model on a machine to a pool of a service.
namespace mansard::model::serve {

/// What a device's memory goes to; bytes.
struct DeviceMemory {
  double capacity = 0;  ///< Usable: what the device reports, times the utilisation.
  double weights = 0;
  double activations = 0;
  double runtime = 0;
  double kv = 0;
  double kv_per_token = 0;
};

struct DeploymentInputs {
  const ir::Graph& decode;
  const ir::Graph& prefill;
  const hardware::Machine& machine;
  const Calibration& calibration;
  Plan plan;
  CostOptions options;
  EngineSettings settings;
  std::optional<double> usd_per_gpu_hour;  ///< Instead of the machine's price.
  /// Of the same graphs, machine, calibration, plan, options and graph sizes; null: one is built.
  std::shared_ptr<StepModel> timer;
  /// Of a model that drafts on the same devices: its weights, and keys and values of every token,
  /// take their share of the memory. Null: none.
  const DeviceMemory* draft = nullptr;
};

/// A pool with what it points to. `pool.settings` is complete: model length and blocks are set.
struct Deployment {
  Pool pool;
  std::shared_ptr<StepModel> timer;
  DeviceMemory memory;
  std::vector<std::string> assumptions;
};

/// Errors: a plan that cannot run; weights that leave no room for the KV cache; unknown figures.
[[nodiscard]] Result<Deployment> deploy(const DeploymentInputs& inputs);

}  // namespace mansard::model::serve
