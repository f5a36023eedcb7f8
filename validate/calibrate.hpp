#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validate/compare.hpp"

/// Fits the parameters of a calibration to measurements.
namespace mansard::validate {

struct FittedParameter {
  std::string path;  ///< "matmul.bf16.matrix".
  Dimension dimension;
  double before = 0;
  double value = 0;
  double relative_error = 0;  ///< Standard error of ln(value).
  bool determined = false;    ///< False: these rows say too little of it, and it kept its value.
};

/// How well a class of rows is met, by the rows that the fit saw and by rows held out of it.
struct ClassFit {
  std::string op;
  std::string dtype;
  std::string mode;
  std::string phase;
  std::size_t rows = 0;
  Errors in_sample;
  Errors held_out;
};

struct ImplementationFit {
  std::string implementation;
  std::vector<FittedParameter> parameters;
  std::vector<FittedParameter> constants;  ///< What the rows read and no fit changes: counts, terms
                                           ///< that are switched off. As the calibration had them.
  std::vector<FittedParameter> intervals;  ///< From held-out rows; `interval.low` and the like.
  std::vector<ClassFit> classes;
  std::vector<std::uint64_t> rows;  ///< Hashes of the rows used, sorted.
};

struct CalibrateOptions {
  ValidateOptions validate;
  std::size_t folds = 5;          ///< Cross-validation by groups of shapes.
  bool keep = false;              ///< The parameters stay as they are; folds are still refitted.
  std::vector<std::string> only;  ///< Beginnings of the paths to fit ("matmul.tf32."); empty: all.
  /// Rows of other campaigns, which no fit sees: they say how far the interval has to reach.
  std::vector<ir::Measurement> apart;
};

/// What identifies a row whatever its time: op, types, implementation, mode and dims.
[[nodiscard]] std::uint64_t row_hash(const ir::Measurement& row);

/// One fit an implementation, in order of first appearance; flagged rows are left out. The interval
/// of a regime holds nine of ten rows that their fit did not see: rows of shapes held out (all of a
/// weight's rows together, whatever the number of tokens) and rows of other campaigns, each
/// campaign weighing the same; where there is one campaign alone it is widened by what campaigns of
/// one machine usually differ. Deterministic. Errors: rows that cannot determine anything (fewer
/// than eight, one shape, all start time), naming the implementation and the reason.
[[nodiscard]] Result<std::vector<ImplementationFit>> calibrate(
    const std::vector<ir::Measurement>& rows, const hardware::Machine& machine,
    const model::Calibration& start, const CalibrateOptions& options);

/// The overlay file: parameters with units, their uncertainty, errors in and out of sample, and the
/// rows by hash.
[[nodiscard]] std::string print_calibration(const std::string& machine,
                                            const std::vector<ImplementationFit>& fits);

}  // namespace mansard::validate
