#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "cli/options.hpp"
#include "ir/dtype.hpp"
#include "support/suggest.hpp"

namespace mansard::cli {
namespace {

void append(Diagnostics& all, Diagnostics more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// The dtype that an option names; absent where the option was not given.
Result<const ir::Dtype*> dtype_option(const char* option, const std::string& name) {
  if (name.empty()) {
    return nullptr;
  }
  if (const ir::Dtype* dtype = ir::find_dtype(name)) {
    return dtype;
  }
  std::vector<std::string> names;
  for (const ir::Dtype& dtype : ir::dtypes()) {
    names.emplace_back(dtype.name);
  }
  const auto near = did_you_mean(name, names);
  return failure(
      "unknown-dtype", fmt::format("{}: there is no dtype '{}'", option, name), {},
      near ? fmt::format("did you mean '{}'?", *near) : std::string("see: mansard ops --dtypes"));
}

}  // namespace

Result<hardware::Setting> parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return failure("setting", fmt::format("--set takes PATH=VALUE, found '{}'", text));
  }
  return hardware::Setting{text.substr(0, equals), text.substr(equals + 1)};
}

Result<hardware::Machine> load(const std::string& machine, const MachineOptions& options) {
  std::vector<hardware::Setting> settings;
  Diagnostics errors;
  for (const std::string& text : options.settings) {
    if (auto setting = parse_setting(text)) {
      settings.push_back(std::move(*setting));
    } else {
      append(errors, std::move(setting.error()));
    }
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  return hardware::load_machine(machine, options.overlays, settings);
}

Result<std::vector<hardware::Machine>> load_all(const MachineOptions& options) {
  std::vector<hardware::Machine> machines;
  Diagnostics errors;
  for (const std::string& name : options.machines) {
    if (auto machine = load(name, options)) {
      machines.push_back(std::move(*machine));
    } else {
      append(errors, std::move(machine.error()));
    }
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  return machines;
}

Result<model::Calibration> load_calibration(const hardware::Machine& machine,
                                            const MachineOptions& options) {
  if (options.no_calibration) {
    auto result = model::Calibration::defaults();
    if (result) {
      result->notes.emplace_back("calibration off: utilisations are structural defaults");
    }
    return result;
  }
  if (options.calibration.empty()) {
    return model::Calibration::of(machine);
  }
  return read_document(options.calibration).and_then([](const Node& document) {
    return model::Calibration::read(document);
  });
}

namespace {

model::Mode mode_of(const std::string& name) {
  if (name == "graph") {
    return model::Mode::kGraph;
  }
  return name == "stream" ? model::Mode::kStream : model::Mode::kEager;
}

}  // namespace

model::CostOptions cost_options(const MachineOptions& options) {
  model::CostOptions result;
  result.mode = mode_of(options.mode);
  result.regime = options.regime == "burst" ? model::Regime::kBurst : model::Regime::kSustained;
  result.implementation = options.implementation;
  return result;
}

Result<model::Plan> plan_of(const ModelOptions& options) {
  auto weights = dtype_option("--weights", options.weights);
  auto kv = dtype_option("--kv", options.kv);
  auto activations = dtype_option("--activations", options.activations);
  Diagnostics errors;
  for (auto* dtype : std::array{&weights, &kv, &activations}) {
    if (!*dtype) {
      append(errors, std::move(dtype->error()));
    }
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  model::Plan plan;
  plan.formats = {*weights, *kv, *activations};
  plan.attention =
      options.attention == "unfused" ? ir::AttentionForm::kUnfused : ir::AttentionForm::kFused;
  plan.routing = {options.experts_touched};
  plan.kv = {.page = options.page, .window = options.window, .prefix = options.prefix};
  plan.speculation = {options.draft, options.acceptance};
  plan.parallelism = {.tp = options.tp,
                      .ep = options.ep,
                      .dp = options.dp,
                      .cp = options.cp,
                      .sequence = options.sequence_parallel};
  plan.pp = options.pp;
  plan.microbatches = options.microbatches;
  return plan;
}

model::Workload workload_of(const ModelOptions& options) {
  return {.phase = options.phase,
          .batch = options.batch,
          .context = options.context,
          .memory_utilization = options.memory_utilization,
          .usd_per_gpu_hour = options.price};
}

}  // namespace mansard::cli
