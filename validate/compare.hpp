#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "ir/graph.hpp"
#include "ir/measurement.hpp"
#include "model/calibration.hpp"
#include "model/cost_model.hpp"
#include "support/result.hpp"

/// Prediction beside measurement.
namespace mansard::validate {

/// A row with what the model says of it. Seconds.
struct Comparison {
  const ir::Measurement* row = nullptr;
  double bound = 0;
  double low = 0;
  double estimate = 0;
  double high = 0;
  double roofline = 0;  ///< max(FLOP / dense rate, bytes / bandwidth), summed over ops.
  double compute = 0;   ///< The first of its terms.
  double memory = 0;    ///< The second.
  std::string why;      ///< What the estimate is made of; of the worst rows only.
  bool seen = false;    ///< The calibration was fitted on it.
  [[nodiscard]] bool flagged() const { return !row->flags.empty(); }
  /// The measurement beats the bound by more than 2 % and its clock's step.
  [[nodiscard]] bool violates() const;
};

/// Errors of a set of rows, as fractions of |estimate / measured - 1| unless said.
struct Errors {
  double mape = 0;
  double mean_abs_log = 0;
  double median = 0;
  double p90 = 0;
  double bias = 0;  ///< Mean signed.
};

/// One class of rows: op, dtype, implementation, mode, phase.
struct ClassReport {
  std::string op;
  std::string dtype;
  std::string implementation;
  std::string mode;
  std::string phase;
  std::size_t rows = 0;     ///< Scored: unflagged.
  std::size_t skipped = 0;  ///< The model cannot run them; `skip_reasons` says why.
  std::size_t flagged = 0;  ///< Counted and scored apart.
  Errors errors;
  Errors flagged_errors;
  std::size_t bound_violations = 0;
  double interval_coverage = 0;  ///< Share of rows within [low, high].
  double interval_width = 0;     ///< Median of high / low.
  bool calibrated_on_these_rows = false;
  double roofline_mape = 0;
  double three_constant_mape = 0;  ///< Two efficiencies and a start time, fitted on these rows.
  std::vector<std::string> skip_reasons;
  std::vector<Comparison> worst;  ///< By log error, greatest first.
  std::vector<Comparison> violations;
  std::vector<Comparison> comparisons;  ///< Every row, in file order, flagged ones too.
};

struct Report {
  std::string machine;
  std::string calibration;
  std::vector<ClassReport> classes;  ///< In order of first appearance.
  std::size_t other_machines = 0;    ///< Rows of machines that were not asked for.
};

/// Gives the graph of a step's model by name, for decode or prefill.
using ModelSource =
    std::function<Result<ir::Graph>(const std::string& model, const std::string& phase)>;

struct ValidateOptions {
  model::Regime regime = model::Regime::kSustained;
  std::string implementation;  ///< Instead of each row's own.
  ModelSource models;
};

/// "cublaslt-13" -> "cublaslt".
[[nodiscard]] std::string without_version(const std::string& implementation);

[[nodiscard]] Errors errors_of(const std::vector<double>& estimates,
                               const std::vector<double>& measured);

[[nodiscard]] Result<Report> compare(const std::vector<ir::Measurement>& rows,
                                     const hardware::Machine& machine,
                                     const model::Calibration& calibration,
                                     const ValidateOptions& options);

}  // namespace mansard::validate
