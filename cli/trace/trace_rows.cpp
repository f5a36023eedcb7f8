#include "cli/trace/trace_rows.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cli/trace/open_trace.hpp"
#include "support/text.hpp"
#include "traces/dataset/timeline.hpp"

namespace mansard::cli {
namespace {

constexpr double kNanosecond = 1e-9;

/// A dim of an op at the workload.
double dim(const ir::Op& op, std::string_view name, const ir::Bindings& workload) {
  const auto found = op.dims.find(name);
  return found == op.dims.end() ? 1 : ir::value(found->second, workload);
}

/// Without machine, time and place. nullopt: no row can hold this kind of op.
std::optional<ir::Measurement> row_of(const ir::Graph& graph, const ir::Op& op,
                                      const ir::KernelClass& kernel, const TraceModel& model) {
  const ir::Bindings workload = workload_of(model.model).bindings();
  ir::Measurement row{
      .implementation = kernel.library, .mode = "kernel", .op = std::string(op.def->name)};
  const ir::Tensor* first =
      op.operands.empty() || !op.operands.front() ? nullptr : &graph.tensor(*op.operands.front());
  row.dtype =
      first != nullptr && first->dtype != nullptr ? std::string(first->dtype->name) : "bf16";
  const auto at = [&](std::string_view name) { return dim(op, name, workload); };
  if (row.op == "matmul") {
    row.dims = {{"batch", at("b")}, {"m", at("m")}, {"n", at("n")}, {"k", at("k")}};
    return row;
  }
  if (row.op == "attention") {
    row.phase = model.model.phase;
    row.dims = {{"batch", at("b")}, {"q_heads", at("h")}, {"kv_heads", at("g")},
                {"q_len", at("q")}, {"kv_len", at("t")},  {"head_dim", at("d")},
                {"causal", 1}};
    return row;
  }
  if (row.op == "norm") {
    row.op = "rmsnorm";
    row.dims = {{"rows", at("r")}, {"cols", at("c")}};
    const auto residual = op.dims.find("residual");
    if (residual != op.dims.end() && ir::value(residual->second, workload) > 0) {
      row.dims["residual"] = 1;
    }
    return row;
  }
  return std::nullopt;
}

/// Gathers rows, each with a line of a text of its own to point at.
class Rows {
 public:
  explicit Rows(const std::string& path, std::string machine)
      : file_(std::make_shared<SourceFile>(SourceFile{path, ""})), machine_(std::move(machine)) {}

  void add(ir::Measurement row, const ir::Activity& kernel, std::int64_t duration_ns) {
    const std::size_t begin = file_->text.size();
    file_->text += fmt::format("kernel {} {}\n", kernel.id, printable(kernel.name));
    row.machine = machine_;
    row.median_s = static_cast<double>(duration_ns) * kNanosecond;
    row.location = {file_, begin, file_->text.size() - 1};
    rows_.push_back(std::move(row));
  }
  std::vector<ir::Measurement> take() { return std::move(rows_); }

 private:
  std::shared_ptr<SourceFile> file_;
  std::string machine_;
  std::vector<ir::Measurement> rows_;
};

}  // namespace

Result<std::vector<ir::Measurement>> trace_measurements(const std::string& path,
                                                        const TraceModel& model,
                                                        const hardware::Machine& machine) {
  auto database = open_trace(path);
  if (!database) {
    return failure(std::move(database.error()));
  }
  const auto timeline = traces::read_timeline(**database);
  if (!timeline) {
    return failure(timeline.error());
  }
  const std::string named =
      timeline->devices.empty() ? "" : machine_of_device(timeline->devices.front());
  if (!named.empty() && named != machine.name &&
      std::find(machine.ancestors.begin(), machine.ancestors.end(), named) ==
          machine.ancestors.end()) {
    return failure("trace-machine",
                   fmt::format("'{}' was taken on {}, not on {}", path, named, machine.name));
  }
  const auto recognised = recognise(*timeline, model);
  if (!recognised) {
    return failure(recognised.error());
  }
  Rows rows(path, machine.name);
  const auto& activities = timeline->activities;
  for (std::size_t i = 0; i < activities.size(); ++i) {
    if (!recognised->graph) {
      if (const auto row = measurement_of(activities[i], recognised->classes[i])) {
        rows.add(*row, activities[i], activities[i].duration_ns);
      }
      continue;
    }
    const auto& match = recognised->ops[i];
    if (!match || !match->first || activities[i].kind != ir::TraceEventKind::kKernel) {
      continue;
    }
    const ir::Op& op = recognised->graph->ops()[match->op];
    const auto row = row_of(*recognised->graph, op, recognised->classes[i], model);
    std::int64_t duration = activities[i].duration_ns;
    for (std::size_t next = i + 1;
         next < activities.size() && (!recognised->ops[next] || !recognised->ops[next]->first);
         ++next) {
      const bool same = recognised->ops[next] && recognised->ops[next]->op == match->op;
      duration += same ? activities[next].duration_ns : 0;
    }
    if (row) {
      rows.add(*row, activities[i], duration);
    }
  }
  return rows.take();
}

}  // namespace mansard::cli
