#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/views/format.hpp"
#include "frontend/frontend.hpp"
#include "hardware/catalog.hpp"
#include "hardware/machine.hpp"
#include "model/calibration.hpp"
#include "model/cost_model.hpp"
#include "model/plan.hpp"
#include "model/prediction.hpp"
#include "support/result.hpp"

namespace CLI {
class App;
}

/// Options that several verbs share, as the user gave them, and what they mean.
namespace mansard::cli {

/// Which machine, changed how, with which calibration.
struct MachineOptions {
  std::vector<std::string> machines;
  std::vector<std::string> settings;  ///< "hbm.bandwidth=8 TB/s"
  std::vector<std::string> overlays;
  std::string calibration;
  bool no_calibration = false;
  std::string implementation;
  std::string mode = "graph";
  std::string regime = "sustained";
};

/// Which model at which workload, deployed how.
struct ModelOptions {
  std::string model;
  std::string phase = "decode";
  std::int64_t batch = 1;
  std::int64_t context = 2048;
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  std::int64_t microbatches = 0;
  std::int64_t ep = 1;
  std::int64_t dp = 1;
  std::int64_t cp = 1;
  bool sequence_parallel = false;
  std::string weights;
  std::string kv;
  std::string activations;
  std::string attention = "fused";
  std::string fusion = "on";  ///< Of ONNX graphs; others come fused.
  std::optional<std::int64_t> experts_touched;
  std::int64_t page = 0;
  std::int64_t window = 0;
  std::int64_t prefix = 0;
  std::int64_t draft = 0;
  double acceptance = 0.7;
  double memory_utilization = 1;
  std::optional<double> price;
};

/// `--set` and `--overlay` alone.
void add_change_options(CLI::App& app, MachineOptions& options);
/// `--machine`, changes to it, and how work runs on it.
void add_machine_options(CLI::App& app, MachineOptions& options);
void add_model_options(CLI::App& app, ModelOptions& options);
/// Of them the model, its formats, parallelism and price: what does not say which step runs.
void add_deployment_options(CLI::App& app, ModelOptions& options);
void add_format_option(CLI::App& app, Format& format);

[[nodiscard]] Result<hardware::Machine> load(const std::string& machine,
                                             const MachineOptions& options);
/// Every machine of `options`, changed; all errors of all of them.
[[nodiscard]] Result<std::vector<hardware::Machine>> load_all(const MachineOptions& options);
[[nodiscard]] Result<model::Calibration> load_calibration(const hardware::Machine& machine,
                                                          const MachineOptions& options);
[[nodiscard]] model::CostOptions cost_options(const MachineOptions& options);
[[nodiscard]] Result<model::Plan> plan_of(const ModelOptions& options);
[[nodiscard]] Result<ir::Graph> load_model(const ModelOptions& options);
/// As above, for a model whose file names dimensions (ONNX): of `settings`, those of the form
/// NAME=N where NAME is one of them give it a value and are taken out; `batch` and `context` set
/// those options.
[[nodiscard]] Result<ir::Graph> load_model(ModelOptions& options,
                                           std::vector<std::string>& settings);
/// The model as its file has it, with the dimensions that `settings` name given values; those
/// without one stay symbols.
[[nodiscard]] Result<ir::Graph> read_model(const ModelOptions& options,
                                           const std::vector<std::string>& settings);
[[nodiscard]] model::Workload workload_of(const ModelOptions& options);

/// A `PATH=VALUE` argument in two.
[[nodiscard]] Result<hardware::Setting> parse_setting(const std::string& text);

}  // namespace mansard::cli
