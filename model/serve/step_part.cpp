#include "model/serve/step_part.hpp"

#include <algorithm>
#include <charconv>

namespace mansard::model::serve {
namespace {

std::size_t place_of(const std::string& name, std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  const auto place = static_cast<std::size_t>(found - names.begin());
  if (found == names.end()) {
    names.push_back(name);
  }
  return std::min(place, kMostResources - 1);
}

}  // namespace

void PartCost::add(const PartCost& part, double share) {
  seconds += share * part.seconds;
  host += share * part.host;
  joules += share * part.joules;
  dynamic_joules += share * part.dynamic_joules;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    busy[i] += share * part.busy[i];
  }
}

Part::Part(const CostModel& model, std::span<const std::size_t> ops,
           std::vector<std::string>& resources) {
  std::vector<ir::Expr> roots;
  for (const std::size_t index : ops) {
    const OpCost& op = model.ops[index];
    OpRoots& listed = ops_.emplace_back();
    listed.count = model.count(op);
    listed.has_energy = static_cast<bool>(op.joules);
    roots.insert(roots.end(), {op.estimate.expr(), op.host.expr()});
    if (listed.has_energy) {
      roots.insert(roots.end(), {op.joules.expr(), op.dynamic_joules.expr()});
    }
    for (const Term& term : op.bound_terms) {
      roots.push_back(term.time.expr());
      listed.resources.push_back(place_of(term.resource, resources));
    }
  }
  if (roots.empty()) {
    return;
  }
  out_.resize(roots.size());
  std::vector<std::string> points;
  for (const ir::Expr symbol : ir::symbols_of(roots)) {
    if (slot_of(symbol->symbol)) {
      points.emplace_back(symbol->symbol);
    }
  }
  evaluator_.emplace(std::move(roots), points, model.machine_values);
  for (const std::string& symbol : evaluator_->symbols()) {
    slots_.push_back(*slot_of(symbol));
  }
  values_.resize(slots_.size());
}

/// What a symbol stands for if it is of the workload; all others are of the machine.
std::optional<Part::Slot> Part::slot_of(std::string_view symbol) {
  constexpr std::string_view kMean = "mean.";
  if (symbol == "batch") {
    return Slot{.symbol = Symbol::kBatch};
  }
  if (symbol == "q_len") {
    return Slot{.symbol = Symbol::kNewTokens};
  }
  if (!symbol.starts_with(kMean)) {
    return std::nullopt;
  }
  Slot slot{.symbol = Symbol::kMean};
  std::from_chars(symbol.data() + kMean.size(), symbol.data() + symbol.size(), slot.mean);
  return slot;
}

PartCost Part::at(double batch, double q_len, std::span<const double> means) {
  if (ops_.empty()) {
    return {};
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    switch (slots_[i].symbol) {
      case Symbol::kBatch:
        values_[i] = batch;
        break;
      case Symbol::kNewTokens:
        values_[i] = q_len;
        break;
      case Symbol::kMean:
        values_[i] = means[slots_[i].mean];
    }
  }
  evaluator_->evaluate(values_, out_);
  return sum();
}

PartCost Part::sum() const {
  PartCost result;
  const double* value = out_.data();
  for (const OpRoots& op : ops_) {
    const double seconds = op.count * *value++;
    result.seconds += seconds;
    result.host += op.count * *value++;
    if (op.has_energy) {
      result.joules += op.count * *value++;
      result.dynamic_joules += op.count * *value++;
    }
    std::size_t binding = 0;
    for (std::size_t i = 1; i < op.resources.size(); ++i) {
      binding = value[i] > value[binding] ? i : binding;
    }
    if (!op.resources.empty()) {
      result.busy[op.resources[binding]] += seconds;
    }
    value += op.resources.size();
  }
  return result;
}

}  // namespace mansard::model::serve
