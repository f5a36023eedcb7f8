#include "model/serve/point_evaluator.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mansard::model::serve {

PointEvaluator::PointEvaluator(std::vector<ir::Expr> roots, const std::vector<std::string>& points,
                               ir::Bindings fixed)
    : roots_(std::move(roots)),
      fixed_(std::move(fixed)),
      interpreter_(roots_),
      values_(interpreter_.symbols().size()),
      results_(roots_.size()) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const std::string name(interpreter_.symbols()[i]->symbol);
    if (std::ranges::find(points, name) != points.end()) {
      symbols_.push_back(name);
      places_.push_back(i);
      continue;
    }
    const double* value = fixed_.find(name);
    assert(value != nullptr && "every symbol is a point's or fixed");
    values_[i] = *value;
  }
  columns_.resize(symbols_.size());
}

void PointEvaluator::evaluate(std::span<const double> values, std::span<double> out) {
  if (++evaluations_ == kCompileAfter) {
    compile();
  }
  if (!compiled_) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      values_[places_[i]] = values[i];
    }
    return interpreter_.evaluate(values_, out);
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i] = &values[i];
  }
  for (std::size_t k = 0; k < results_.size(); ++k) {
    results_[k] = &out[k];
  }
  compiled_->evaluate(columns_, 1, results_);
}

void PointEvaluator::compile() {
  const auto made = BatchFunction::make(roots_, {.row = {}, .point = symbols_}, fixed_, {});
  if (!made || !made->compiled()) {
    return;  // it goes on as it is
  }
  compiled_.emplace(*made);
  compiled_->set_row({});
}

}  // namespace mansard::model::serve
