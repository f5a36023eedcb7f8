#include "validate/class_model.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "model/plan.hpp"
#include "support/units.hpp"
#include "validate/cases.hpp"

namespace mansard::validate {
namespace {

using ir::Expr;

/// A step of a whole model, or an op alone.
Result<ir::Graph> graph_of(const ir::Measurement& row, const ValidateOptions& options) {
  if (row.op != "step") {
    const Case* found = find_case(row.op);
    if (row.op == "kernel") {
      return failure("unknown-op", "a kernel's time is compared by mansard kernel --launches");
    }
    if (found == nullptr) {
      return failure("unknown-op", fmt::format("the model has no op for '{}'", row.op));
    }
    return found->graph(row);
  }
  auto graph = options.models(row.model, row.phase);
  if (!graph) {
    return graph;
  }
  model::Plan plan;
  if (const auto tp = row.dims.find("tp"); tp != row.dims.end()) {
    plan.parallelism.tp = static_cast<std::int64_t>(tp->second);
  }
  if (row.dtype != "bf16") {
    plan.formats.weights = plan.formats.activations = ir::find_dtype(row.dtype);
  }
  return model::prepare(std::move(*graph), plan);
}

model::Mode mode_of(const std::string& mode) {
  if (mode == "stream") {
    return model::Mode::kStream;
  }
  if (mode == "eager") {
    return model::Mode::kEager;
  }
  return mode == "kernel" ? model::Mode::kKernel : model::Mode::kGraph;
}

/// The plain roofline's two terms, summed over ops: contractions at the dense rate, operands at
/// device memory's bandwidth.
struct Roofline {
  Expr compute;
  Expr memory;
};

Roofline roofline_of(const model::CostModel& cost, Expr bandwidth) {
  ir::ExprPool& pool = cost.graph->pool();
  Roofline result{pool.constant(0, kSecond), pool.constant(0, kSecond)};
  for (const model::OpCost& op : cost.ops) {
    const double count = cost.count(op);
    if (op.rate) {
      result.compute = result.compute + count * (op.demand.flops.expr() / op.rate->quoted.expr());
    }
    result.memory = result.memory + count * (op.demand.bytes.expr() / bandwidth);
  }
  return result;
}

struct Part {
  std::string name;
  double seconds = 0;
};

/// The greatest `most` parts.
std::string greatest_of(std::vector<Part> parts, std::size_t most) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::pair(-a.seconds, a.name) < std::pair(-b.seconds, b.name);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, parts.size()) && parts[i].seconds > 0; ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", parts[i].name,
                        format_measure(parts[i].seconds, kSecond));
  }
  return text;
}

std::vector<Part> parts_of(const std::vector<model::Term>& terms, const ir::Bindings& bindings) {
  std::vector<Part> parts;
  for (const model::Term& term : terms) {
    parts.push_back({term.resource, ir::value(term.time.expr(), bindings)});
  }
  return parts;
}

}  // namespace

Result<ClassModel> ClassModel::build(const ir::Measurement& row, const hardware::Machine& machine,
                                     const model::Calibration& calibration,
                                     const ValidateOptions& options) {
  auto graph = graph_of(row, options);
  if (!graph) {
    return failure(std::move(graph.error()));
  }
  const bool step = row.op == "step";
  const model::CostOptions cost_options{
      .mode = mode_of(row.mode),
      .regime = options.regime,
      .implementation = options.implementation.empty() ? without_version(row.implementation)
                                                       : options.implementation,
      .chained = step,
      .demand = {.boundary_crosses = step, .weights_cross = step}};
  auto cost = model::build_cost_model(*graph, machine, calibration, cost_options);
  if (!cost) {
    return failure(std::move(cost.error()));
  }
  auto bandwidth = machine.expr("main.bandwidth", cost->graph->pool());
  if (!bandwidth) {
    return failure(std::move(bandwidth.error()));
  }
  const Roofline roofline = roofline_of(*cost, *bandwidth);
  std::vector<Expr> roots{cost->bound.expr(), cost->low.expr(), cost->estimate.expr(),
                          cost->high.expr(),  roofline.compute, roofline.memory};
  return ClassModel(std::move(*cost), std::move(roots));
}

std::vector<double> ClassModel::values(const ir::Measurement& row) const {
  const ir::Bindings columns = bindings_of(row);
  std::vector<double> result;
  result.reserve(symbols().size());
  for (const Expr symbol : symbols()) {
    const double* value = columns.find(symbol->symbol);
    result.push_back(value != nullptr ? *value : *cost_.machine_values.find(symbol->symbol));
  }
  return result;
}

ClassModel::Counts ClassModel::counts(const ir::Measurement& row) const {
  const ir::Bindings bindings = cost_.bindings(bindings_of(row));
  Counts result;
  for (const model::OpCost& op : cost_.ops) {
    const double times = cost_.count(op);
    result.flops += times * ir::value(op.demand.flops.expr(), bindings);
    result.vector_flops += times * ir::value(op.demand.vector_flops.expr(), bindings);
    for (const model::OperandDemand& operand : op.demand.operands) {
      const double bytes = times * ir::value(operand.bytes.expr(), bindings);
      const bool both = operand.def->access == ir::Access::kReadWrite;
      result.bytes_read += operand.def->access == ir::Access::kWrite ? 0 : both ? bytes / 2 : bytes;
      result.bytes_written += operand.def->access == ir::Access::kRead ? 0
                              : both                                   ? bytes / 2
                                                                       : bytes;
    }
  }
  return result;
}

std::string ClassModel::explain(const ir::Measurement& row) const {
  constexpr std::size_t kMost = 4;
  const ir::Bindings bindings = cost_.bindings(bindings_of(row));
  if (cost_.ops.size() == 1) {
    const model::OpCost& op = cost_.ops.front();
    return fmt::format("terms {}; bound {}",
                       greatest_of(parts_of(op.estimate_terms, bindings), kMost),
                       greatest_of(parts_of(op.bound_terms, bindings), 1));
  }
  std::vector<Part> ops;
  for (const model::OpCost& op : cost_.ops) {
    ops.push_back({cost_.graph->op(op.demand.op).name,
                   cost_.count(op) * ir::value(op.estimate.expr(), bindings)});
  }
  return "ops " + greatest_of(std::move(ops), kMost);
}

Comparison ClassModel::compare(const ir::Measurement& row, std::span<const double> values) {
  std::array<double, 6> out{};
  evaluator_.evaluate(values, out);
  return {.row = &row,
          .bound = out[0],
          .low = out[1],
          .estimate = out[2],
          .high = out[3],
          .roofline = std::max(out[4], out[5]),
          .compute = out[4],
          .memory = out[5]};
}

}  // namespace mansard::validate
