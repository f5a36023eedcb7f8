#include "cli/serve/server.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/serve/reading.hpp"
#include "cli/serve/source.hpp"
#include "traces/requests/served.hpp"

namespace mansard::cli {
namespace {

namespace serve = model::serve;
namespace requests = traces::requests;

/// All that a step model depends on and that may differ between the calls of one server.
std::string timer_key(const ModelOptions& model, const std::string& machine,
                      const serve::EngineSettings& settings, const model::Plan& plan) {
  return fmt::format("{} {} tp {} ep {} dp {} pp {} {} {} {} {} graphs {}", model.model, machine,
                     plan.parallelism.tp, plan.parallelism.ep, plan.parallelism.dp, plan.pp,
                     model.weights, model.kv, model.activations,
                     settings.enforce_eager ? "eager" : "compiled",
                     fmt::join(settings.captured(), ","));
}

void add_notes(std::vector<std::string>& to, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    if (std::ranges::find(to, note) == to.end()) {
      to.push_back(note);
    }
  }
}

/// Nothing could be read: what was wrong with the rows is then the error.
Diagnostics nothing_read(const std::string& path, Diagnostics problems) {
  for (Diagnostic& problem : problems) {
    problem.severity = Severity::kError;
  }
  problems.push_back(
      {.id = "request-file", .message = fmt::format("no request could be read from '{}'", path)});
  return problems;
}

}  // namespace

Result<const Server::Graphs*> Server::graphs(const ModelOptions& options) {
  if (const auto known = graphs_.find(options.model); known != graphs_.end()) {
    return &known->second;
  }
  auto decode = frontend::import_model(options.model, frontend::Phase::kDecode);
  if (!decode) {
    return failure(std::move(decode.error()));
  }
  auto prefill = frontend::import_model(options.model, frontend::Phase::kPrefill);
  if (!prefill) {
    return failure(std::move(prefill.error()));
  }
  return &graphs_.emplace(options.model, Graphs{std::move(*decode), std::move(*prefill)})
              .first->second;
}

Result<const Server::Target*> Server::target(const std::string& name,
                                             const MachineOptions& options) {
  if (const auto known = targets_.find(name); known != targets_.end()) {
    return &known->second;
  }
  auto machine = load(name, options);
  if (!machine) {
    return failure(std::move(machine.error()));
  }
  auto calibration = load_calibration(*machine, options);
  if (!calibration) {
    return failure(std::move(calibration.error()));
  }
  return &targets_.emplace(name, Target{std::move(*machine), std::move(*calibration)})
              .first->second;
}

Result<serve::Deployment> Server::deployment(const ServeOptions& options, const Part& part) {
  const auto loaded = graphs(part.model);
  if (!loaded) {
    return failure(loaded.error());
  }
  const auto on = target(part.machine, options.machine);
  if (!on) {
    return failure(on.error());
  }
  std::shared_ptr<serve::StepModel>& timer =
      timers_[timer_key(part.model, part.machine, part.settings, part.plan)];
  auto deployed = serve::deploy({.decode = (*loaded)->decode,
                                 .prefill = (*loaded)->prefill,
                                 .machine = (*on)->machine,
                                 .calibration = (*on)->calibration,
                                 .plan = part.plan,
                                 .options = cost_options(options.machine),
                                 .settings = part.settings,
                                 .usd_per_gpu_hour = options.model.price,
                                 .timer = timer,
                                 .draft = part.draft});
  if (deployed) {
    timer = deployed->timer;
    deployed->assumptions.insert(deployed->assumptions.begin(), (*on)->calibration.notes.begin(),
                                 (*on)->calibration.notes.end());
  }
  return deployed;
}

Result<serve::Pool> Server::pool(const ServeOptions& options, const ServicePlan& plan,
                                 const PoolRequest& asked, ServeAnswer& answer) {
  std::optional<serve::Deployment> draft;
  if (!options.engine.draft_model.empty()) {
    ModelOptions model = plan.model;
    model.model = options.engine.draft_model;
    serve::EngineSettings settings = plan.settings;
    settings.num_blocks = 2;  // it holds no blocks of its own
    auto deployed = deployment(
        options,
        {.model = model, .machine = asked.machine, .settings = settings, .plan = plan.plan});
    if (!deployed) {
      return failure(std::move(deployed.error()));
    }
    draft = std::move(*deployed);
  }
  auto deployed = deployment(options, {.model = plan.model,
                                       .machine = asked.machine,
                                       .settings = plan.settings,
                                       .plan = plan.plan,
                                       .draft = draft ? &draft->memory : nullptr});
  if (!deployed) {
    return failure(std::move(deployed.error()));
  }
  serve::Pool pool = deployed->pool;
  pool.role = asked.role;
  pool.replicas = asked.replicas * plan.ranks;
  pool.draft = draft ? draft->timer.get() : nullptr;
  answer.pools.push_back({.machine = asked.machine,
                          .calibration = targets_.at(asked.machine).calibration.name,
                          .replicas = pool.replicas,
                          .gpus = pool.gpus,
                          .blocks = pool.blocks,
                          .role = pool.role,
                          .settings = pool.settings,
                          .memory = deployed->memory});
  add_notes(answer.assumptions, deployed->assumptions);
  return pool;
}

Result<serve::Service> Server::service(const ServeOptions& options, ServeAnswer& answer) {
  auto plan = service_plan(options);
  if (!plan) {
    return failure(std::move(plan.error()));
  }
  add_notes(answer.assumptions, plan->notes);
  serve::Service result = std::move(plan->service);
  Reading reading;
  for (const PoolRequest& asked : plan->pools) {
    if (auto made = pool(options, *plan, asked, answer)) {
      result.pools.push_back(std::move(*made));
    } else {
      reading.add(std::move(made.error()));
    }
  }
  if (!reading.errors.empty()) {
    return failure(std::move(reading.errors));
  }
  return result;
}

Result<ServeAnswer> Server::serve(const ServeOptions& options, const serve::Listeners& listeners) {
  ServeAnswer answer{.router = options.router};
  Reading reading;
  const serve::Service simulated = reading.take(service(options, answer));
  const RequestOrigin origin = reading.take(request_origin(options));
  const auto measured = options.against.empty()
                            ? std::optional<requests::ServedRun>()
                            : reading.take(requests::read_served(options.against));
  if (!reading.errors.empty()) {
    return failure(std::move(reading.errors));
  }
  answer.model = graphs_.at(options.model.model).decode.facts.name;
  answer.source = origin.name;
  answer.objectives = simulated.objectives;
  answer.report = serve::simulate(simulated, *origin.source, listeners);
  if (origin.reader != nullptr) {
    answer.read = origin.reader->report();
    if (answer.report.requests == 0) {
      return failure(nothing_read(options.requests, answer.read->problems));
    }
  }
  if (measured) {
    answer.against = serve::compare_runs(answer.report, measured->requests, measured->figures,
                                         measured->makespan);
  }
  return answer;
}

}  // namespace mansard::cli
