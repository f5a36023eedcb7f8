#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/serve/options.hpp"
#include "cli/serve/settings.hpp"
#include "model/serve/comparison.hpp"
#include "model/serve/deployment.hpp"
#include "model/serve/service.hpp"
#include "traces/requests/requests.hpp"

/// What `mansard serve` answers.
namespace mansard::cli {

/// One simulated service, with what it was made of.
struct ServeAnswer {
  struct PoolInfo {
    std::string machine;
    std::string calibration;
    std::uint32_t replicas = 1;
    double gpus = 1;
    std::uint64_t blocks = 0;
    model::serve::Role role = model::serve::Role::kBoth;
    model::serve::EngineSettings settings;
    model::serve::DeviceMemory memory;
  };
  std::string model;
  std::vector<PoolInfo> pools;
  std::string router;
  std::string source;  ///< "trace azure", "poisson 5/s".
  model::serve::Objectives objectives;
  std::optional<traces::requests::ReadReport> read;
  model::serve::ServiceReport report;
  std::optional<model::serve::RunComparison> against;
  std::vector<std::string> assumptions;
  std::vector<std::pair<std::string, std::string>> varied;  ///< Of a sweep: option and value.
};

/// Serves as asked; keeps graphs and step models between calls, for searches and sweeps.
class Server {
 public:
  [[nodiscard]] Result<ServeAnswer> serve(const ServeOptions& options,
                                          const model::serve::Listeners& listeners);

 private:
  struct Graphs {
    ir::Graph decode, prefill;
  };
  struct Target {
    hardware::Machine machine;
    model::Calibration calibration;
  };
  /// A model on a machine as one engine of a service runs it.
  struct Part {
    const ModelOptions& model;
    const std::string& machine;
    const model::serve::EngineSettings& settings;
    const model::Plan& plan;
    const model::serve::DeviceMemory* draft = nullptr;  ///< Of a model that drafts beside it.
  };

  [[nodiscard]] Result<const Graphs*> graphs(const ModelOptions& options);
  [[nodiscard]] Result<const Target*> target(const std::string& machine,
                                             const MachineOptions& options);
  [[nodiscard]] Result<model::serve::Deployment> deployment(const ServeOptions& options,
                                                            const Part& part);
  [[nodiscard]] Result<model::serve::Pool> pool(const ServeOptions& options,
                                                const ServicePlan& plan, const PoolRequest& asked,
                                                ServeAnswer& answer);
  [[nodiscard]] Result<model::serve::Service> service(const ServeOptions& options,
                                                      ServeAnswer& answer);

  std::map<std::string, Graphs> graphs_;
  std::map<std::string, Target> targets_;
  /// By all that a step model is built from.
  std::map<std::string, std::shared_ptr<model::serve::StepModel>> timers_;
};

}  // namespace mansard::cli
