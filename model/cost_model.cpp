#include "model/cost_model.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "model/capacities.hpp"
#include "model/energy.hpp"
#include "model/estimate/context.hpp"
#include "model/estimate/issue.hpp"
#include "model/totals.hpp"

namespace mansard::model {
namespace {

using ir::Expr;

constexpr std::string_view kMainMetric = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kCacheMetric = "lts__t_bytes.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kMatrixMetric =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kVectorMetric =
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active";
constexpr std::string_view kLinkMetric = "nvltx__bytes.sum.per_second";

class Builder {
 public:
  Builder(const ir::Graph& graph, const hardware::Machine& machine, const Calibration& calibration,
          const CostOptions& options)
      : graph_(std::make_shared<const ir::Graph>(graph)),
        machine_(machine),
        options_(options),
        capacities_(machine, graph.pool()),
        parameters_(calibration, options.implementation, graph.pool()) {
    model_.graph = graph_;
    model_.assumptions = calibration.notes;
  }

  Result<CostModel> build() {
    auto main = capacities_.main_bandwidth();
    if (!main) {
      return failure(std::move(main.error()));
    }
    main_ = *main;
    for (Demand& demand : demands(*graph_, capacities_.cache_capacity(), options_.demand)) {
      add_op(std::move(demand));
    }
    add_totals({.capacities = capacities_, .parameters = parameters_, .options = options_}, model_);
    errors_.insert(errors_.end(), parameters_.missing().begin(), parameters_.missing().end());
    if (!errors_.empty()) {
      return failure(std::move(errors_));
    }
    model_.machine_values = machine_.bindings();
    for (const auto& [name, value] : parameters_.bindings().all()) {
      model_.machine_values.set(name, value);
    }
    return std::move(model_);
  }

 private:
  ir::ExprPool& pool() const { return graph_->pool(); }
  Typed<Seconds> no_time() const { return Typed<Seconds>(pool().constant(0, kSecond)); }

  void add_op(Demand demand) {
    const ir::Op& op = graph_->op(demand.op);
    OpCost cost{.demand = std::move(demand)};
    cost.rate = contraction_rate(op);
    add_bound(op, cost);
    const OpContext context{.graph = *graph_,
                            .op = op,
                            .demand = cost.demand,
                            .capacities = capacities_,
                            .parameters = parameters_,
                            .options = options_,
                            .rate = cost.rate,
                            .main = main_};
    add_estimate(context, cost);
    model_.ops.push_back(std::move(cost));
  }

  /// The rate of the op's contractions; absent if it has none.
  std::optional<Rate> contraction_rate(const ir::Op& op) {
    if (op.def->engine == ir::Engine::kNone) {
      return std::nullopt;
    }
    std::string substituted;
    const ir::Dtype& a = *graph_->tensor(*op.operands[0]).dtype;
    const ir::Dtype& b = *graph_->tensor(*op.operands[1]).dtype;
    auto rate =
        capacities_.contraction(op.def->engine, a, b, graph_->facts.activations, &substituted);
    if (!rate) {
      note_errors(std::move(rate.error()));
      return std::nullopt;
    }
    if (!substituted.empty()) {
      assume(std::move(substituted));
    }
    return *rate;
  }

  void add_bound(const ir::Op& op, OpCost& cost) {
    const std::optional<Rate>& rate = cost.rate;
    const Demand& demand = cost.demand;
    add_term(cost, machine_.main().name, demand.main_least / main_, kMainMetric,
             Demanded::kMainBytes);
    if (const auto bandwidth = capacities_.cache_bandwidth()) {
      add_term(cost, capacities_.cache()->name, demand.bytes_least / *bandwidth, kCacheMetric,
               Demanded::kCacheBytes);
    }
    if (rate) {
      add_term(cost, rate->field, demand.flops / rate->peak,
               rate->field.starts_with("matrix") ? kMatrixMetric : kVectorMetric, Demanded::kWork);
    }
    if (op.def->vector_flops) {
      const ir::Dtype& type = *graph_->tensor(*op.operands[0]).dtype;
      if (auto vector = capacities_.elementwise(type)) {
        add_term(cost, vector->field, demand.vector_flops / vector->peak, kVectorMetric,
                 Demanded::kWork);
      } else {
        note_errors(std::move(vector.error()));
      }
    }
    if (op.def->link_elements) {
      add_link_term(op, cost);
    }
    cost.bound = no_time();
    for (const Term& term : cost.bound_terms) {
      cost.bound = max(cost.bound, term.time);
    }
  }

  void add_link_term(const ir::Op& op, OpCost& cost) {
    const auto tier = op.attributes.find("tier");
    const std::string name = tier == op.attributes.end() ? "nvlink" : tier->second;
    auto link = capacities_.link_bandwidth(name);
    if (link) {
      add_term(cost, name, cost.demand.link_bytes / *link, kLinkMetric, Demanded::kLinkBytes);
    } else {
      note_errors(std::move(link.error()));
    }
  }

  static void add_term(OpCost& cost, std::string resource, Typed<Seconds> time,
                       std::string_view metric, Demanded demanded) {
    cost.bound_terms.push_back({std::move(resource), time, std::string(metric), demanded});
  }

  void add_estimate(const OpContext& context, OpCost& cost) {
    OpEstimate result = estimate(context);
    cost.estimate = max(cost.bound, result.time);
    cost.estimate_terms = std::move(result.terms);
    cost.launches = result.launches;
    cost.host = host_time(context, result.calls);
    cost.low = max(cost.bound, Typed<Seconds>(cost.estimate.expr() / result.below));
    cost.high = Typed<Seconds>(cost.estimate.expr() * result.above);
    const OpEnergy energy = energy_of(context, cost.estimate, result.busy);
    cost.joules = energy.total;
    cost.dynamic_joules = energy.dynamic;
  }

  void assume(std::string sentence) {
    if (std::find(model_.assumptions.begin(), model_.assumptions.end(), sentence) ==
        model_.assumptions.end()) {
      model_.assumptions.push_back(std::move(sentence));
    }
  }

  /// The same unknown asked for by many ops is one error.
  void note_errors(Diagnostics diagnostics) {
    for (Diagnostic& diagnostic : diagnostics) {
      const bool known = std::any_of(errors_.begin(), errors_.end(), [&](const Diagnostic& other) {
        return other.message == diagnostic.message;
      });
      if (!known) {
        errors_.push_back(std::move(diagnostic));
      }
    }
  }

  std::shared_ptr<const ir::Graph> graph_;
  const hardware::Machine& machine_;
  const CostOptions& options_;
  Capacities capacities_;
  Parameters parameters_;
  Typed<BytesPerSecond> main_;
  CostModel model_;
  Diagnostics errors_;
};

}  // namespace

double CostModel::count(const OpCost& op) const {
  return static_cast<double>(graph->block(graph->op(op.demand.op).block).count);
}

ir::Bindings CostModel::bindings(const ir::Bindings& workload) const {
  ir::Bindings all = machine_values;
  for (const auto& [name, value] : workload.all()) {
    all.set(name, value);
  }
  return all;
}

Result<CostModel> build_cost_model(const ir::Graph& graph, const hardware::Machine& machine,
                                   const Calibration& calibration, const CostOptions& options) {
  return Builder(graph, machine, calibration, options).build();
}

}  // namespace mansard::model
