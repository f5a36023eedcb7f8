#include "model/prediction.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ir/algorithms.hpp"
#include "ir/passes/bind.hpp"

namespace mansard::model {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr std::int64_t kLargestBatch = 1 << 20;
constexpr std::int64_t kLargestContext = 1 << 27;

/// Counts print as whole numbers; expectations (experts touched) are rounded to the nearest.
double whole(double value) {
  return std::round(value);
}

/// Reads values in the order in which their expressions were listed.
class Values {
 public:
  explicit Values(std::span<const double> values) : values_(values) {}
  double next() { return values_[at_++]; }
  std::vector<TermValue> next(const std::vector<Term>& terms) {
    std::vector<TermValue> result;
    for (const Term& term : terms) {
      result.push_back({term.resource, next(), term.metric});
    }
    return result;
  }

 private:
  std::span<const double> values_;
  std::size_t at_ = 0;
};

void list_terms(const std::vector<Term>& terms, std::vector<ir::Expr>& roots) {
  for (const Term& term : terms) {
    roots.push_back(term.time.expr());
  }
}

/// The expressions of one op, as `predict_op` reads them.
void list_op(const OpCost& op, std::vector<ir::Expr>& roots) {
  const Demand& demand = op.demand;
  roots.insert(roots.end(), {demand.flops.expr(), demand.vector_flops.expr(), demand.special_ops,
                             demand.bytes.expr(), demand.main_bytes.expr(), op.bound.expr(),
                             op.low.expr(), op.estimate.expr(), op.high.expr()});
  list_terms(op.bound_terms, roots);
  list_terms(op.estimate_terms, roots);
}

const TermValue* greatest_term(const std::vector<TermValue>& terms) {
  const auto found = std::max_element(
      terms.begin(), terms.end(),
      [](const TermValue& a, const TermValue& b) { return a.seconds < b.seconds; });
  return found == terms.end() ? nullptr : &*found;
}

/// The slowest chain of dependent ops by their estimates.
double critical_path(const ir::Graph& graph, const std::vector<OpPrediction>& ops) {
  std::vector<double> weights;
  for (const OpPrediction& op : ops) {
    weights.push_back(op.count * op.estimate_s);
  }
  return ir::critical_path(graph, weights).weight;
}

OpPrediction predict_op(const CostModel& cost, const OpCost& op, double repeats, Values& values) {
  const ir::Op& node = cost.graph->op(op.demand.op);
  OpPrediction result{
      .name = node.name, .kind = std::string(node.def->name), .count = cost.count(op) * repeats};
  result.flops = whole(values.next());
  result.vector_flops = whole(values.next());
  result.special_ops = whole(values.next());
  result.bytes = whole(values.next());
  result.main_bytes = whole(values.next());
  result.bound_s = values.next();
  result.low_s = values.next();
  result.estimate_s = values.next();
  result.high_s = values.next();
  result.bound_terms = values.next(op.bound_terms);
  result.estimate_terms = values.next(op.estimate_terms);
  result.intensity = result.bytes > 0 ? result.flops / result.bytes : 0;
  const TermValue* binding = greatest_term(result.bound_terms);
  result.binding = binding != nullptr ? binding->resource : "none";
  return result;
}

}  // namespace

ir::Bindings Workload::bindings() const {
  return {{"batch", static_cast<double>(batch)},
          {"context", static_cast<double>(context)},
          {"q_len", static_cast<double>(q_len())}};
}

Result<Predictor> Predictor::build(const ir::Graph& model, const hardware::Machine& machine,
                                   const Calibration& calibration, const Plan& plan,
                                   const CostOptions& options) {
  auto formatted = ir::set_formats(model, plan.formats);
  auto device = prepare(model, plan);
  if (!formatted || !device) {
    return failure(std::move(!device ? device.error() : formatted.error()));
  }
  auto cost = build_cost_model(*device, machine, calibration, options);
  if (!cost) {
    return failure(std::move(cost.error()));
  }
  Predictor result(machine);
  result.host_issues_ = options.mode == Mode::kEager || options.mode == Mode::kStream;
  const ir::ParameterCounts counts = ir::parameter_counts(model);
  result.facts_ = {.name = model.facts.name,
                   .parameters = counts.total,
                   .active_parameters = counts.active,
                   .active_parameters_without_embedding = counts.active_without_embedding,
                   .weight_bytes = ir::value(ir::weight_bytes(*formatted), {})};
  if (model.facts.file) {
    result.facts_.has_batch = ir::depends_on(model, "batch");
    result.facts_.has_context = ir::depends_on(model, "context") || ir::depends_on(model, "q_len");
  }
  result.kv_per_token_ = ir::kv_bytes_per_token(*formatted);
  result.calibration_ = calibration.name;
  result.plan_ = plan;
  result.memory_ = memory_model(*cost->graph, plan.repeats());
  result.cost_ = std::move(*cost);
  result.prepare_evaluation();
  return result;
}

Prediction Predictor::predict(const Workload& workload) const {
  Prediction result{.model = facts_,
                    .machine = {machine_.name, calibration_},
                    .workload = workload,
                    .plan = plan_,
                    .memory = memory_at(workload)};
  result.model.kv_bytes_per_token = ir::value(kv_per_token_, workload.bindings());
  std::vector<double> values(roots_.size());
  ir::Evaluator(*of_all_).evaluate(cost_.bindings(workload.bindings()), values);
  add_totals(values, result);
  add_ops(values, result);
  add_rates(result);
  if (cost_.graph->facts.file) {
    result.totals.critical_path_s = critical_path(*cost_.graph, result.ops);
  }
  const auto largest = [&](std::int64_t limit, std::int64_t Workload::* field) {
    return greatest(limit, [&](std::int64_t value) {
      Workload changed = workload;
      changed.*field = value;
      return fits(changed);
    });
  };
  if (result.memory.capacity_bytes) {
    result.memory.largest_batch = largest(kLargestBatch, &Workload::batch);
    result.memory.largest_context = largest(kLargestContext, &Workload::context);
  }
  for (const auto* notes : {&machine_.changes, &cost_.assumptions, &cost_.graph->facts.notes}) {
    result.assumptions.insert(result.assumptions.end(), notes->begin(), notes->end());
  }
  return result;
}

void Predictor::prepare_evaluation() {
  totals_ = {cost_.bound.expr(), cost_.low.expr(), cost_.estimate.expr(), cost_.high.expr()};
  if (cost_.joules) {
    totals_.push_back(cost_.joules.expr());
  }
  roots_ = totals_;
  for (const OpCost& op : cost_.ops) {
    list_op(op, roots_);
  }
  of_totals_.emplace(totals_);
  of_all_.emplace(roots_);
}

void Predictor::add_totals(std::span<const double> values, Prediction& prediction) const {
  const auto repeats = static_cast<double>(plan_.repeats());
  Prediction::Totals& totals = prediction.totals;
  Values at(values);
  totals.bound_s = repeats * at.next();
  totals.low_s = repeats * at.next();
  totals.estimate_s = repeats * at.next();
  totals.high_s = repeats * at.next();
  if (cost_.joules) {
    totals.joules = repeats * at.next();
  }
}

void Predictor::add_ops(std::span<const double> values, Prediction& prediction) const {
  const auto repeats = static_cast<double>(plan_.repeats());
  Prediction::Totals& totals = prediction.totals;
  Values at(values.subspan(totals_.size()));
  for (const OpCost& cost : cost_.ops) {
    const OpPrediction op = predict_op(cost_, cost, repeats, at);
    totals.flops += op.count * op.flops;
    totals.vector_flops += op.count * op.vector_flops;
    totals.bytes += op.count * op.bytes;
    totals.main_bytes += op.count * op.main_bytes;
    totals.ops_s += op.count * op.estimate_s;
    prediction.ops.push_back(op);
  }
  constexpr double kStretched = 1.01;
  if (totals.estimate_s > kStretched * totals.ops_s) {
    totals.stretched_by = host_issues_ ? "host" : "power cap";
  }
}

void Predictor::add_rates(Prediction& prediction) const {
  const Workload& workload = prediction.workload;
  Prediction::Totals& totals = prediction.totals;
  const auto stages = static_cast<double>(plan_.pp);
  const auto repeats = static_cast<double>(plan_.repeats());
  // A microbatch needs every stage before its next token: fewer microbatches than stages leave
  // stages idle.
  const double step = totals.estimate_s * std::max(1.0, stages / repeats);
  const bool decode = workload.phase == "decode" && prediction.model.has_context;
  const std::int64_t each = prediction.model.has_context ? workload.q_len() : 1;
  const auto tokens = static_cast<double>(workload.batch * each);
  totals.tokens_per_second = tokens / step;
  if (decode) {
    totals.tpot_s = step;
  }
  const std::optional<double> listed = machine_.known("price");
  std::optional<double> usd_per_second;
  if (workload.usd_per_gpu_hour) {
    usd_per_second = *workload.usd_per_gpu_hour / kSecondsPerHour;
  } else {
    usd_per_second = listed;
  }
  if (usd_per_second) {
    const auto gpus = static_cast<double>(plan_.gpus());
    totals.usd_per_million_tokens = gpus * *usd_per_second / totals.tokens_per_second * 1e6;
  }
}

Prediction::Memory Predictor::memory_at(const Workload& workload) const {
  const ir::Bindings bindings = workload.bindings();
  Prediction::Memory result{.weight_bytes = ir::value(memory_.weights.expr(), bindings),
                            .kv_bytes = ir::value(memory_.kv.expr(), bindings),
                            .activation_bytes = ir::value(memory_.activations.expr(), bindings)};
  if (const auto capacity = machine_.known("main.capacity")) {
    result.capacity_bytes = *capacity * workload.memory_utilization;
    result.fits =
        result.weight_bytes + result.kv_bytes + result.activation_bytes <= *result.capacity_bytes;
  }
  return result;
}

bool Predictor::fits(Workload workload) const {
  return memory_at(workload).fits;
}

std::optional<std::int64_t> Predictor::largest_batch(const Workload& workload,
                                                     const Objective& objective) const {
  ir::Evaluator evaluator(*of_totals_);
  return greatest(kLargestBatch, [&](std::int64_t batch) {
    Workload changed = workload;
    changed.batch = batch;
    if (!fits(changed)) {
      return false;
    }
    Prediction prediction;
    prediction.workload = changed;
    std::vector<double> values(totals_.size());
    evaluator.evaluate(cost_.bindings(changed.bindings()), values);
    add_totals(values, prediction);
    add_rates(prediction);
    return prediction.totals.tpot_s.value_or(prediction.totals.estimate_s) <= objective.tpot_s;
  });
}

}  // namespace mansard::model
