#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/expr.hpp"
#include "ir/expr_eval.hpp"
#include "model/program/batch.hpp"

namespace mansard::model::serve {

/// Expressions of a few symbols, asked for at one point after another: interpreted at first, and as
/// machine code once they were asked for so often that compiling pays. Both give the same bits, so
/// nobody can tell when that was. The expressions' pool must outlive it.
class PointEvaluator {
 public:
  /// `points` are the symbols that may differ; `fixed` binds all others (asserted).
  PointEvaluator(std::vector<ir::Expr> roots, const std::vector<std::string>& points,
                 ir::Bindings fixed);

  /// The symbols that are read, in the order in which `evaluate` takes them.
  [[nodiscard]] const std::vector<std::string>& symbols() const { return symbols_; }
  /// Writes the value of each root.
  void evaluate(std::span<const double> values, std::span<double> out);

 private:
  /// Evaluations: that many take about as long as taking machine code from the disk, a third of
  /// what making it takes.
  static constexpr std::uint32_t kCompileAfter = 200;

  void compile();

  std::vector<ir::Expr> roots_;
  ir::Bindings fixed_;
  std::vector<std::string> symbols_;
  ir::Evaluator interpreter_;
  std::vector<double> values_;       ///< Of the interpreter's symbols,
  std::vector<std::size_t> places_;  ///< and where among them ours are.
  std::optional<BatchFunction::Evaluator> compiled_;
  std::uint32_t evaluations_ = 0;
  std::vector<const double*> columns_;
  std::vector<double*> results_;
};

}  // namespace mansard::model::serve
