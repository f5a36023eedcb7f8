#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/expr_eval.hpp"
#include "model/cost_model.hpp"
#include "validate/compare.hpp"

namespace mansard::validate {

/// The model of a class of rows, built once and evaluated at each.
class ClassModel {
 public:
  /// Errors: an op that the model does not know, a figure that the machine lacks, a plan that
  /// cannot run.
  [[nodiscard]] static Result<ClassModel> build(const ir::Measurement& row,
                                                const hardware::Machine& machine,
                                                const model::Calibration& calibration,
                                                const ValidateOptions& options);

  /// What the expressions read, in the order of `values`.
  [[nodiscard]] std::span<const ir::Expr> symbols() const { return evaluator_.symbols(); }
  /// The values of the symbols at a row: its columns, the machine's figures, the calibration.
  [[nodiscard]] std::vector<double> values(const ir::Measurement& row) const;

  [[nodiscard]] Comparison compare(const ir::Measurement& row) { return compare(row, values(row)); }
  /// As above with other values than the row's own, to see what a parameter does.
  [[nodiscard]] Comparison compare(const ir::Measurement& row, std::span<const double> values);

  /// Of all ops of the row, each as often as it runs.
  struct Counts {
    double flops = 0;
    double vector_flops = 0;
    double bytes_read = 0;
    double bytes_written = 0;
  };
  [[nodiscard]] Counts counts(const ir::Measurement& row) const;
  /// What the estimate of a row comes from, the greatest term first (terms may overlap or exclude
  /// each other): "terms hbm 28 us, start 1.2 us; bound hbm 27 us"; of a step, its greatest ops.
  [[nodiscard]] std::string explain(const ir::Measurement& row) const;

 private:
  ClassModel(model::CostModel cost, std::vector<ir::Expr> roots)
      : cost_(std::move(cost)), evaluator_(roots) {}
  model::CostModel cost_;
  ir::Evaluator evaluator_;
};

}  // namespace mansard::validate
