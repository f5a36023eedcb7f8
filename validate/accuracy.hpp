#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/document.hpp"
#include "validate/compare.hpp"

/// The accuracy table: what is stated of the estimates, and limits that it must keep.
namespace mansard::validate {

/// Rows of one kind of op on one machine, whatever libraries ran them: unflagged, of 1 us and more.
/// Single ops issued eagerly count where their bound is at least 50 us: below, the host is
/// measured.
struct AccuracyLine {
  std::string
      subject;  ///< "matmul bf16", "attention decode", "streams > 1 MB", "decode step graph".
  std::string machine;
  std::size_t rows = 0;
  std::size_t seen = 0;  ///< Of them, rows that the calibration was fitted on.
  Errors errors;
  double coverage = 0;            ///< Share of rows within [low, high].
  double width = 0;               ///< Median of high / low.
  std::set<std::string> sources;  ///< What measured them, under what, when.
};

/// In the order of first appearance.
[[nodiscard]] std::vector<AccuracyLine> accuracy(const Report& report,
                                                 const hardware::Machine& machine);

/// The greatest errors that a line may have, as fractions.
struct AccuracyLimit {
  std::string subject;
  std::string machine;
  std::optional<double> mean;
  std::optional<double> median;
  std::optional<double> p90;
  std::optional<double> bias;      ///< Of either sign.
  std::optional<double> coverage;  ///< The least.
};

/// `limits: [{what: matmul bf16, machine: h200-sxm, mean: 0.07}]`. Errors: unknown keys, a missing
/// `what` or `machine`.
[[nodiscard]] Result<std::vector<AccuracyLimit>> read_limits(const Node& document);

/// Each limit that a line exceeds, as a sentence.
[[nodiscard]] std::vector<std::string> exceeded(const std::vector<AccuracyLine>& lines,
                                                const std::vector<AccuracyLimit>& limits);

}  // namespace mansard::validate
