#pragma once

#include <memory>
#include <vector>

#include "ir/expr_eval.hpp"
#include "model/cost_model.hpp"
#include "validate/compare.hpp"

namespace mansard::validate {

/// The model of a class of rows, built once and evaluated at each.
class ClassModel {
 public:
  /// Errors: an op that the model does not know, a figure that the machine lacks, a plan that cannot run.
  [[nodiscard]] static Result<ClassModel> build(const ir::Measurement& row,
                                                const hardware::Machine& machine,
                                                const model::Calibration& calibration,
                                                const ValidateOptions& options);

  [[nodiscard]] Comparison compare(const ir::Measurement& row);

 private:
  ClassModel(model::CostModel cost, std::vector<ir::Expr> roots)
      : cost_(std::move(cost)), evaluator_(roots) {}
  model::CostModel cost_;
  ir::Evaluator evaluator_;
};

}  // namespace mansard::validate
