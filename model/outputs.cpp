#include "model/outputs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "support/suggest.hpp"

namespace mansard::model {
namespace {

using ir::Expr;

constexpr double kSecondsPerHour = 3600;
constexpr const char* kPrice = "price";
constexpr const char* kUtilization = "memory_utilization";

/// Counts are shown as whole numbers.
Expr whole(Expr e) {
  Expr one = e.pool().unit(e.dimension());
  return ir::floor(e / one + 0.5) * one;
}

class Collector {
 public:
  Collector(const Predictor& predictor, const Workload& workload)
      : predictor_(predictor),
        workload_(workload),
        pool_(predictor.cost().graph->pool()),
        repeats_(static_cast<double>(predictor.plan().repeats())) {}

  std::vector<Output> collect() {
    add_times();
    add_rates();
    add_counts();
    add_memory();
    add_ops();
    return std::move(outputs_);
  }

 private:
  void add(std::string name, Expr e) { outputs_.push_back({std::move(name), put_q_len(e)}); }

  /// One new token a sequence in decode, all of the context in prefill.
  [[nodiscard]] Expr put_q_len(Expr e) const {
    return ir::substitute(e, pool_, [&](const ir::ExprNode& symbol) -> Expr {
      if (symbol.symbol != "q_len") {
        return {};
      }
      return workload_.phase == "prefill" ? pool_.symbol("context") : pool_.constant(1);
    });
  }

  void add_times() {
    const CostModel& cost = predictor_.cost();
    add("bound_s", repeats_ * cost.bound.expr());
    add("low_s", repeats_ * cost.low.expr());
    add("estimate_s", repeats_ * cost.estimate.expr());
    add("high_s", repeats_ * cost.high.expr());
    if (cost.joules) {
      add("joules", repeats_ * cost.joules.expr());
    }
  }

  void add_rates() {
    const auto stages = static_cast<double>(predictor_.plan().pp);
    const Expr step =
        repeats_ * predictor_.cost().estimate.expr() * std::max(1.0, stages / repeats_);
    const Expr tokens = pool_.symbol("batch") * pool_.symbol("q_len");
    const Expr rate = tokens / step;
    add("tokens_per_second", rate);
    if (workload_.phase == "decode") {
      add("tpot_s", step);
    }
    const auto gpus = static_cast<double>(predictor_.plan().gpus());
    add("gpus", pool_.constant(gpus));
    if (workload_.usd_per_gpu_hour || predictor_.machine().known(kPrice)) {
      add("usd_per_million_tokens", gpus * pool_.symbol(kPrice, kUsdPerSecond) / rate * 1e6);
    }
  }

  void add_counts() {
    add("flops", sum([](const Demand& d) { return d.flops.expr(); }));
    add("vector_flops", sum([](const Demand& d) { return d.vector_flops.expr(); }));
    add("bytes", sum([](const Demand& d) { return d.bytes.expr(); }));
    add("main_bytes", sum([](const Demand& d) { return d.main_bytes.expr(); }));
  }

  template <typename Part>
  Expr sum(Part part) const {
    Expr total;
    for (const OpCost& op : predictor_.cost().ops) {
      const Expr term = (predictor_.cost().count(op) * repeats_) * whole(part(op.demand));
      total = total ? total + term : term;
    }
    return total;
  }

  void add_memory() {
    const MemoryModel& memory = predictor_.memory();
    add("memory.weight_bytes", memory.weights.expr());
    add("memory.kv_bytes", memory.kv.expr());
    add("memory.activation_bytes", memory.activations.expr());
    const Expr total = memory.total().expr();
    add("memory.bytes", total);
    const auto capacity = predictor_.machine().expr("main.capacity", pool_);
    if (!capacity) {
      add("memory.fits", pool_.constant(1));
      return;
    }
    const Expr usable = *capacity * pool_.symbol(kUtilization);
    add("memory.capacity_bytes", usable);
    add("memory.fits", 1 - ir::less(usable, total));
  }

  void add_ops() {
    const CostModel& cost = predictor_.cost();
    for (const OpCost& op : cost.ops) {
      const std::string prefix = fmt::format("ops.{}.", cost.graph->op(op.demand.op).name);
      add(prefix + "flops", whole(op.demand.flops.expr()));
      add(prefix + "bytes", whole(op.demand.bytes.expr()));
      add(prefix + "main_bytes", whole(op.demand.main_bytes.expr()));
      add(prefix + "bound_s", op.bound.expr());
      add(prefix + "low_s", op.low.expr());
      add(prefix + "estimate_s", op.estimate.expr());
      add(prefix + "high_s", op.high.expr());
    }
  }

  const Predictor& predictor_;
  const Workload& workload_;
  ir::ExprPool& pool_;
  double repeats_;
  std::vector<Output> outputs_;
};

}  // namespace

std::vector<Output> outputs_of(const Predictor& predictor, const Workload& workload) {
  return Collector(predictor, workload).collect();
}

Result<Output> find_output(const std::vector<Output>& outputs, std::string_view name) {
  std::vector<std::string> names;
  for (const Output& output : outputs) {
    const bool in_seconds = output.name.ends_with("_s");
    const std::string_view stem =
        std::string_view(output.name).substr(0, output.name.size() - (in_seconds ? 2 : 0));
    if (output.name == name || (in_seconds && stem == name)) {
      return output;
    }
    names.push_back(output.name);
  }
  const auto meant = did_you_mean(name, names);
  return failure("unknown-output", fmt::format("a prediction has no field '{}'", name), {},
                 meant ? fmt::format("did you mean '{}'?", *meant)
                       : "bound_s, estimate_s, low_s, high_s, tpot_s, tokens_per_second, "
                         "usd_per_million_tokens, joules, flops, bytes, memory.bytes, "
                         "ops.NAME.estimate_s, ...");
}

ir::Bindings output_bindings(const Predictor& predictor, const Workload& workload) {
  ir::Bindings all = predictor.cost().bindings(workload.bindings());
  const ir::Bindings machine = predictor.machine().bindings();
  for (const auto& [name, value] : machine.all()) {
    all.set(name, value);
  }
  all.set(kUtilization, workload.memory_utilization);
  if (workload.usd_per_gpu_hour) {
    all.set(kPrice, *workload.usd_per_gpu_hour / kSecondsPerHour);
  } else if (const auto listed = predictor.machine().known(kPrice)) {
    all.set(kPrice, *listed);
  }
  return all;
}

}  // namespace mansard::model
