#include "cli/trace/kernel_models.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/trace/activity_shapes.hpp"
#include "cli/trace/message_models.hpp"
#include "validate/cases.hpp"
#include "validate/class_model.hpp"

namespace mansard::cli {
namespace {

using Kind = ir::TraceEventKind;

std::string dtype_of(const std::string& types, const ir::KernelClass& kernel) {
  const auto told = torch_dtype(types);
  return told ? *told : (kernel.dtype.empty() ? "fp32" : kernel.dtype);
}

/// [.., m, k] x [.., k, n]; linear has its weight as [n, k].
bool matmul_dims(const std::string& op, const std::vector<Shape>& shapes, ir::Measurement& row) {
  const std::size_t first = (op == "aten::addmm" || op == "aten::baddbmm") ? 1 : 0;
  if (shapes.size() < first + 2 || shapes[first].size() < 2 || shapes[first + 1].size() < 2) {
    return false;
  }
  const Shape& a = shapes[first];
  const Shape& w = shapes[first + 1];
  const bool linear = op == "aten::linear";
  const bool batched = w.size() > 2;
  const double k = a.back();
  const double n = linear ? w[w.size() - 2] : w.back();
  const double batch = batched ? product(w, 0, w.size() - 2) : 1;
  const double rows = product(a, 0, a.size() - 1) / batch;
  row.dims = {{"batch", batch}, {"m", rows}, {"n", n}, {"k", k}};
  return k == (linear ? w.back() : w[w.size() - 2]) && rows >= 1;
}

/// Queries, keys and values: [batch, heads, tokens, dim], or [batch, tokens, heads, dim] of
/// FlashAttention's own op.
bool attention_dims(const std::string& op, const std::vector<Shape>& shapes, ir::Measurement& row) {
  constexpr std::size_t kDims = 4;
  if (shapes.size() < 2 || shapes[0].size() != kDims || shapes[1].size() != kDims ||
      op.find("backward") != std::string::npos) {
    return false;
  }
  const std::size_t heads = op.find("_flash_attention_forward") != std::string::npos ? 2 : 1;
  const std::size_t tokens = 3 - heads;
  const double queries = shapes[0][tokens];
  const double keys = shapes[1][tokens];
  row.phase = queries == 1 ? "decode" : (queries == keys ? "prefill" : "chunk");
  row.dims = {{"batch", shapes[0][0]},
              {"q_heads", shapes[0][heads]},
              {"kv_heads", shapes[1][heads]},
              {"q_len", queries},
              {"kv_len", keys},
              {"head_dim", shapes[0][3]},
              {"causal", 1}};
  return shapes[1][heads] > 0 && queries > 0 && keys >= queries && shapes[0][3] > 0;
}

/// The columns of a row-wise or elementwise op.
bool row_dims(const std::vector<Shape>& shapes, ir::Measurement& row) {
  if (shapes.empty()) {
    return false;
  }
  const Shape& x =
      *std::max_element(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) {
        return product(a, 0, a.size()) < product(b, 0, b.size());
      });
  row.dims = {{"rows", product(x, 0, x.size() - 1)},
              {"cols", x.back()},
              {"elements", product(x, 0, x.size())}};
  return product(x, 0, x.size()) > 0;
}

std::string row_op(const std::string& kind, const ir::Activity& activity,
                   const std::vector<Shape>& shapes) {
  if (kind == "norm") {
    return activity.op.find("rms") != std::string::npos ? "rmsnorm" : "layernorm";
  }
  if (kind == "softmax") {
    return "softmax";
  }
  if (activity.op == "aten::copy_" || activity.op == "aten::clone") {
    return "copy";
  }
  const bool two = shapes.size() >= 2 && product(shapes[0], 0, 9) == product(shapes[1], 0, 9);
  return two ? "add" : "addu";
}

/// Which capacity a class of kernels leans on where nothing else is known.
std::string capacity_path(const ir::Activity& activity, const ir::KernelClass& kernel,
                          const hardware::Machine& machine) {
  if (activity.kind == Kind::kCopy &&
      (activity.direction == "HtoD" || activity.direction == "DtoH")) {
    return machine.known("host.bandwidth") ? "host.bandwidth" : "main.bandwidth";
  }
  for (const char* link :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"}) {
    if (kernel.is(link)) {
      constexpr double kPair = 2;
      const std::string tier = link_of(machine, kPair);
      return tier.empty() ? "main.bandwidth" : tier + ".bandwidth";
    }
  }
  // A tile this narrow is chosen for few rows, where weights are read once and bandwidth binds.
  constexpr int kNarrow = 32;
  const int narrow = std::min(kernel.tile.m, kernel.tile.n);
  const bool few_rows = (narrow > 0 && narrow <= kNarrow) || kernel.continues;
  const std::string dtype = kernel.dtype.empty() ? "bf16" : kernel.dtype;
  if (!few_rows &&
      (kernel.is("matmul") || kernel.is("convolution") || kernel.is("grouped_matmul"))) {
    for (const std::string& rate :
         {"matrix." + dtype, "vector." + dtype, std::string("matrix.fp16")}) {
      if (machine.known(rate)) {
        return rate;
      }
    }
    return "vector.fp32";
  }
  return "main.bandwidth";
}

KernelModel by_class(const ir::Activity& activity, const ir::KernelClass& kernel,
                     const hardware::Machine& machine) {
  const std::string path = capacity_path(activity, kernel, machine);
  const double capacity = machine.known(path).value_or(1);
  // Half to twice: no more is known of what the kernel does.
  constexpr double kWide = 2;
  const bool known = !kernel.kinds.empty() || activity.kind != Kind::kKernel;
  return {.times = {.bound = 0,
                    .low = 1 / capacity / kWide,
                    .estimate = 1 / capacity,
                    .high = kWide / capacity},
          .binding = machine.resolve(path),
          .how = known ? "class" : "unknown"};
}

model::ModelTimes times_of(const model::OpPrediction& op) {
  return {.bound = op.bound_s, .low = op.low_s, .estimate = op.estimate_s, .high = op.high_s};
}

/// The model's own prediction, kernels alone as a profiler times them.
Result<model::Prediction> prediction_of(const Recognised& recognised,
                                        const hardware::Machine& machine,
                                        const MachineOptions& options, const TraceModel& model) {
  const auto calibration = load_calibration(machine, options);
  if (!calibration) {
    return failure(calibration.error());
  }
  model::CostOptions cost = cost_options(options);
  cost.mode = model::Mode::kKernel;
  const auto plan = plan_of(model.model);
  if (!plan) {
    return failure(plan.error());
  }
  const auto graph = load_model(model.model);
  if (!graph) {
    return failure(graph.error());
  }
  const auto predictor = model::Predictor::build(*graph, machine, *calibration, *plan, cost);
  if (!predictor) {
    return failure(predictor.error());
  }
  (void)recognised;
  return predictor->predict(workload_of(model.model));
}

/// Models of measured shapes, one a class.
class ShapeModels {
 public:
  ShapeModels(const hardware::Machine& machine, model::Calibration calibration)
      : machine_(machine), calibration_(std::move(calibration)) {}

  std::optional<model::ModelTimes> times(const ir::Measurement& row) {
    auto& found = model_of(row);
    if (!found) {
      return std::nullopt;
    }
    const validate::Comparison c = found->compare(row);
    const bool usable = c.estimate > 0 && c.low > 0 && c.high < 1e6;
    return usable ? std::optional(model::ModelTimes{c.bound, c.low, c.estimate, c.high})
                  : std::nullopt;
  }

  std::optional<validate::ClassModel::Counts> counts(const ir::Measurement& row) {
    auto& found = model_of(row);
    return found ? std::optional(found->counts(row)) : std::nullopt;
  }

 private:
  std::optional<validate::ClassModel>& model_of(const ir::Measurement& row) {
    const auto [found, fresh] = models_.try_emplace(validate::case_key(row));
    if (fresh) {
      auto built = validate::ClassModel::build(row, machine_, calibration_, {});
      found->second = built ? std::optional(std::move(*built)) : std::nullopt;
    }
    return found->second;
  }

  const hardware::Machine& machine_;
  model::Calibration calibration_;
  std::map<std::string, std::optional<validate::ClassModel>> models_;
};

}  // namespace

void add_trace_model_options(CLI::App& app, TraceModel& options) {
  add_model_options(app, options.model);
  app.get_option("MODEL")->required(false);
}

std::string machine_of_device(const std::string& device) {
  constexpr std::pair<std::string_view, std::string_view> kDevices[] = {
      {"H200 NVL", ""},
      {"GB300", "gb300"},
      {"GH200", "gh200"},
      {"H200", "h200-sxm"},
      {"H100 PCIe", "h100-pcie"},
      {"H100 NVL", "h100-nvl"},
      {"H100", "h100-sxm"},
      {"H800", "h800-sxm"},
      {"H20", "h20"},
      {"A100-SXM4-80GB", "a100-sxm-80gb"},
      {"A100-SXM4-40GB", "a100-sxm-40gb"},
      {"A100-SXM-80GB", "a100-sxm-80gb"},
      {"A100-SXM-40GB", "a100-sxm-40gb"},
      {"A100-PCIE-40GB", "a100-pcie-40gb"},
      {"A100 80GB PCIe", "a100-pcie-80gb"},
      {"A100-PG509-200", "a100-sxm-40gb"},
      {"V100-SXM2", "v100-sxm2"},
      {"V100-PCIE", "v100-pcie"},
      {"Tesla T4", "t4"},
      {"P100-PCIE", "p100-pcie"},
      {"P100-SXM2", "p100-sxm2"},
      {"L40S", "l40s"},
      {"NVIDIA L4", "l4"},
      {"GB200", "gb200"},
      {"B200", "b200-sxm"},
      {"B300", "b300-sxm"},
      {"MI250X", "mi250x"},
      {"MI210", "mi210"},
      {"MI300X", "mi300x"},
      {"MI325X", "mi325x"},
      {"MI355X", "mi355x"},
      {"RTX 4090", "rtx-4090"},
      {"RTX 3090", "rtx-3090"},
      {"RTX 5090", "rtx-5090"},
      {"RTX 2060", "rtx-2060"},
      {"RTX PRO 6000 Blackwell", "rtx-pro-6000-blackwell"},
      {"NVIDIA A10G", "a10g"},
      {"NVIDIA A40", "a40"},
      {"NVIDIA A10", "a10"}};
  const auto names = hardware::machine_names();
  if (std::find(names.begin(), names.end(), device) != names.end()) {
    return device;  // Of a projection.
  }
  for (const auto& [part, machine] : kDevices) {
    if (device.find(part) != std::string::npos) {
      const bool known = std::find(names.begin(), names.end(), machine) != names.end();
      return known ? std::string(machine) : "";
    }
  }
  return "";
}

Result<hardware::Machine> machine_of(const ir::Timeline& timeline, const MachineOptions& options) {
  if (!options.machines.empty()) {
    return load(options.machines.front(), options);
  }
  const std::string device = timeline.devices.empty() ? "" : timeline.devices.front();
  const std::string name = machine_of_device(device);
  if (name.empty()) {
    return failure("trace-machine",
                   device.empty() ? "the trace does not name its device"
                                  : fmt::format("no machine is known for the device '{}'", device),
                   {}, "name it with --machine");
  }
  return load(name, options);
}

Result<Recognised> recognise(const ir::Timeline& timeline, const TraceModel& model) {
  Recognised result;
  std::map<std::pair<std::string_view, std::string_view>, ir::KernelClass> known;
  for (const ir::Activity& activity : timeline.activities) {
    auto [found, fresh] = known.try_emplace({activity.name, activity.op});
    if (fresh && activity.kind == Kind::kKernel) {
      found->second = ir::classify_kernel(activity.name, activity.op);
    } else if (fresh && activity.kind == Kind::kCopy && activity.direction == "DtoD") {
      found->second.kinds = {"kv_write", "elementwise"};
    }
    result.classes.push_back(found->second);
  }
  if (!model.given()) {
    return result;
  }
  auto graph = load_model(model.model);
  auto plan = plan_of(model.model);
  if (!graph || !plan) {
    return failure(!graph ? graph.error() : plan.error());
  }
  auto prepared = model::prepare(std::move(*graph), *plan);
  if (!prepared) {
    return failure(prepared.error());
  }
  result.ops = model::match_kernels(*prepared, result.classes);
  result.graph = std::move(*prepared);
  return result;
}

std::optional<ir::Measurement> measurement_of(const ir::Activity& activity,
                                              const ir::KernelClass& kernel) {
  if (activity.kind == Kind::kCopy && activity.direction == "DtoD" && activity.bytes > 0) {
    ir::Measurement row{.mode = "kernel", .op = "copy", .dtype = "bf16"};
    row.dims = {{"elements", static_cast<double>(activity.bytes) / 2}};
    return row;
  }
  const std::vector<Shape> shapes = shapes_of(activity.shapes);
  if (shapes.empty() || kernel.kinds.empty() || kernel.continues) {
    return std::nullopt;
  }
  ir::Measurement row{.implementation = kernel.library, .mode = "kernel"};
  row.dtype = dtype_of(activity.dtypes, kernel);
  row.median_s = static_cast<double>(activity.duration_ns) * 1e-9;
  if (kernel.is("matmul")) {
    row.op = "matmul";
    return matmul_dims(activity.op, shapes, row) ? std::optional(row) : std::nullopt;
  }
  if (kernel.kind() == "attention") {
    row.op = "attention";
    return attention_dims(activity.op, shapes, row) ? std::optional(row) : std::nullopt;
  }
  for (const char* kind : {"norm", "softmax", "elementwise"}) {
    if (kernel.is(kind)) {
      row.op = row_op(kind, activity, shapes);
      return row_dims(shapes, row) ? std::optional(row) : std::nullopt;
    }
  }
  return std::nullopt;
}

Result<std::vector<KernelModel>> kernel_models(const ir::Timeline& timeline,
                                               const Recognised& recognised,
                                               const hardware::Machine& machine,
                                               const MachineOptions& options,
                                               const TraceModel& model) {
  std::optional<model::Prediction> prediction;
  if (recognised.graph) {
    auto predicted = prediction_of(recognised, machine, options, model);
    if (!predicted) {
      return failure(predicted.error());
    }
    prediction = std::move(*predicted);
  }
  auto calibration = load_calibration(machine, options);
  if (!calibration) {
    return failure(calibration.error());
  }
  MessageModels messages(machine, *calibration);
  ShapeModels shapes(machine, *calibration);
  std::vector<KernelModel> result;
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const ir::Activity& activity = timeline.activities[i];
    const ir::KernelClass& kernel = recognised.classes[i];
    if (prediction && recognised.ops[i] && prediction->ops[recognised.ops[i]->op].estimate_s > 0) {
      const model::OpPrediction& op = prediction->ops[recognised.ops[i]->op];
      KernelModel found{times_of(op), op.binding, "op " + op.name};
      found.times.bound = recognised.ops[i]->first ? found.times.bound : 0;
      result.push_back(std::move(found));
      continue;
    }
    const auto world = timeline.world_sizes.find(activity.run);
    const auto message =
        message_of(activity, kernel, world == timeline.world_sizes.end() ? 0 : world->second);
    if (const auto sent = message ? messages.time(*message) : std::nullopt) {
      result.push_back({sent->times, sent->link, "message"});
      continue;
    }
    const auto row = measurement_of(activity, kernel);
    const auto times = row ? shapes.times(*row) : std::nullopt;
    if (times) {
      result.push_back({*times, "", "shapes"});
    } else {
      result.push_back(by_class(activity, kernel, machine));
    }
  }
  return result;
}

namespace {

/// Contractions run on the matrix engine where it takes their format, the rest on the vector one.
void add_counts(const validate::ClassModel::Counts& counts, const std::string& dtype,
                const hardware::Machine& machine, ir::KernelWork& work) {
  const std::string matrix = "matrix." + dtype;
  const std::string vector = "vector." + dtype;
  if (counts.flops > 0) {
    work.flops[machine.known(matrix) ? matrix : vector] += counts.flops;
  }
  if (counts.vector_flops > 0) {
    work.flops[machine.known(vector) ? vector : "vector.fp32"] += counts.vector_flops;
  }
  work.main_bytes = counts.bytes_read + counts.bytes_written;
}

}  // namespace

Result<std::vector<ir::KernelWork>> matched_work(const ir::Timeline& timeline,
                                                 const Recognised& recognised,
                                                 const hardware::Machine& machine,
                                                 const MachineOptions& options,
                                                 const TraceModel& model) {
  std::vector<ir::KernelWork> result;
  std::optional<model::Prediction> prediction;
  if (recognised.graph) {
    auto predicted = prediction_of(recognised, machine, options, model);
    if (!predicted) {
      return failure(predicted.error());
    }
    prediction = std::move(*predicted);
  }
  auto calibration = load_calibration(machine, options);
  if (!calibration) {
    return failure(calibration.error());
  }
  ShapeModels shapes(machine, std::move(*calibration));
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const ir::Activity& a = timeline.activities[i];
    if (a.kind != Kind::kKernel) {
      continue;
    }
    ir::KernelWork work{.kernel = a.id, .name = a.name, .op = recognised.classes[i].kind()};
    work.seconds = static_cast<double>(a.duration_ns) * 1e-9;
    if (prediction && recognised.ops[i]) {
      const model::OpPrediction& op = prediction->ops[recognised.ops[i]->op];
      work.op = op.name;
      work.main_bytes = recognised.ops[i]->first ? op.bytes : 0;
      if (op.flops > 0) {
        const auto rate =
            std::find_if(op.bound_terms.begin(), op.bound_terms.end(), [](const auto& t) {
              return t.resource.starts_with("matrix.") || t.resource.starts_with("vector.");
            });
        work.flops[rate == op.bound_terms.end() ? "matrix.bf16" : rate->resource] =
            recognised.ops[i]->first ? op.flops : 0;
      }
    } else if (const auto row = measurement_of(a, recognised.classes[i])) {
      if (const auto counts = shapes.counts(*row)) {
        add_counts(*counts, row->dtype, machine, work);
      }
    }
    result.push_back(std::move(work));
  }
  return result;
}

}  // namespace mansard::cli
