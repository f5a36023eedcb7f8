#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "ir/measurement.hpp"
#include "model/calibration.hpp"
#include "support/result.hpp"
#include "validate/compare.hpp"

/// What the model counts beside what Nsight Compute's hardware counters saw.
namespace mansard::validate {

/// Counters of the kernels that ran for one row.
struct Counted {
  std::size_t row = 0;  ///< Its number in the measurement file, from 1.
  std::size_t kernels = 0;
  double tensor_flops = 0;  ///< Of the matrix engines, padding included.
  double scalar_flops = 0;  ///< An FMA is two; per thread, so that a packed half counts once.
  double dram_read = 0;     ///< Bytes.
  double dram_written = 0;  ///< Bytes; what stays in the L2 at a kernel's end is not among them.
};

/// The raw page (CSV) of a profile of `mansard-measure suite --profile`: kernels belong to the row
/// whose number is the grid of the mark_kernel before them. Errors: no table, columns missing (by
/// name), no mark.
[[nodiscard]] Result<std::vector<Counted>> read_counters(std::shared_ptr<const SourceFile> file);

/// One row: counted and predicted.
struct CountComparison {
  const ir::Measurement* row = nullptr;
  Counted counted;
  double flops = 0;         ///< Contractions.
  double vector_flops = 0;  ///< Elementwise.
  double bytes_read = 0;    ///< Of operands, once.
  double bytes_written = 0;

  /// Counted over predicted FLOP: of the contractions where there are any, on the engine that ran
  /// them, otherwise elementwise; 0 where the op has none.
  [[nodiscard]] double flop_ratio() const;
  /// Likewise of bytes; 0 where the op reads none, or writes less than a megabyte: what else leaves
  /// the L2 meanwhile is more.
  [[nodiscard]] double read_ratio() const;
  [[nodiscard]] double write_ratio() const;
};

/// Rows of one op, dtype, implementation and phase.
struct CountClass {
  std::string op;
  std::string dtype;
  std::string implementation;
  std::string phase;
  std::vector<CountComparison> rows;  ///< In the order of the profile.
  std::size_t skipped = 0;            ///< The model has no such op.
};

/// `rows`: of the file that the profiled run wrote, in its order. Errors: a mark beyond the rows.
[[nodiscard]] Result<std::vector<CountClass>> compare_counts(
    const std::vector<ir::Measurement>& rows, const std::vector<Counted>& counted,
    const hardware::Machine& machine, const model::Calibration& calibration,
    const ValidateOptions& options);

}  // namespace mansard::validate
