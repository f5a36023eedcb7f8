#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "ir/kernel_class.hpp"
#include "ir/kernel_work.hpp"
#include "ir/measurement.hpp"
#include "ir/timeline.hpp"
#include "model/project/match.hpp"
#include "model/project/replay.hpp"

/// What kernels of a timeline are, and what the model says of them.
namespace mansard::cli {

/// Which model a trace is of; model.model is "" where the user does not say.
struct TraceModel {
  ModelOptions model;
  [[nodiscard]] bool given() const { return !model.model.empty(); }
};
void add_trace_model_options(CLI::App& app, TraceModel& options);

/// The activities of a timeline, told apart.
struct Recognised {
  std::vector<ir::KernelClass> classes;             ///< In the order of the activities.
  std::vector<std::optional<model::KernelOp>> ops;  ///< Empty without a model.
  std::optional<ir::Graph> graph;                   ///< Of the model, as one device runs it.
};
[[nodiscard]] Result<Recognised> recognise(const ir::Timeline& timeline, const TraceModel& model);

/// A kernel on one machine.
struct KernelModel {
  model::ModelTimes times;
  std::string binding;
  std::string how;  ///< "op attention.qkv", "message", "shapes", "class", "unknown".
};

/// The machine of a trace by what the profiler calls its device; "" if it is none we know.
[[nodiscard]] std::string machine_of_device(const std::string& device);
/// --machine, or the one that the trace names. Errors: neither.
[[nodiscard]] Result<hardware::Machine> machine_of(const ir::Timeline& timeline,
                                                   const MachineOptions& options);

/// Times of every activity on a machine. Where neither a model's op nor shapes tell its work, one
/// second over the capacity that its class leans on, so that only ratios between machines mean
/// anything (`how` then says "class").
[[nodiscard]] Result<std::vector<KernelModel>> kernel_models(const ir::Timeline& timeline,
                                                             const Recognised& recognised,
                                                             const hardware::Machine& machine,
                                                             const MachineOptions& options,
                                                             const TraceModel& model);

/// FLOP and bytes of every kernel that the model's ops tell; the first kernel of an execution
/// carries its op's work, the others none.
[[nodiscard]] Result<std::vector<ir::KernelWork>> matched_work(const ir::Timeline& timeline,
                                                               const Recognised& recognised,
                                                               const hardware::Machine& machine,
                                                               const MachineOptions& options,
                                                               const TraceModel& model);

/// A kernel as a row of a measurement file, where the shapes that the trace recorded tell its dims.
[[nodiscard]] std::optional<ir::Measurement> measurement_of(const ir::Activity& activity,
                                                            const ir::KernelClass& kernel);

}  // namespace mansard::cli
