#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/serve/options.hpp"
#include "model/serve/engine_settings.hpp"
#include "model/serve/service.hpp"
#include "support/result.hpp"

namespace mansard::cli {

/// A pool as the user names it: "h200-sxm*4:prefill".
struct PoolRequest {
  std::string machine;
  std::uint32_t replicas = 1;
  model::serve::Role role = model::serve::Role::kBoth;
};

/// What the options of a service mean, before any model is on any machine.
struct ServicePlan {
  ModelOptions model;  ///< With the formats that the engine's file names.
  model::serve::EngineSettings settings;
  model::Plan plan;
  std::uint32_t ranks = 1;        ///< Data-parallel: each is a replica of its own to the router.
  model::serve::Service service;  ///< Without its pools.
  std::vector<PoolRequest> pools;
  std::vector<std::string> notes;
};

/// Errors: an engine's file that cannot be read; values that an option does not take; settings and
/// pools that contradict each other. All at once.
[[nodiscard]] Result<ServicePlan> service_plan(const ServeOptions& options);

}  // namespace mansard::cli
