#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/sweep/sinks.hpp"
#include "support/dimension.hpp"

/// Views of a sweep: its points or what they add up to, and how many could run.
namespace mansard::cli {

struct SweepColumn {
  std::string name;
  Dimension dimension;
  bool words = false;
  bool whole = false;  ///< Whole numbers.
};

struct SweepReport {
  std::string model;
  std::vector<SweepColumn> axes;
  std::vector<SweepColumn> outputs;
  struct Row {
    std::vector<std::string> axes;
    std::vector<double> outputs;
  };
  std::vector<Row> rows;                ///< Empty of an aggregate.
  std::vector<std::string> aggregates;  ///< "sum", "min", "max", "mean".
  std::vector<SweepColumn> group_by;
  /// By the texts of the axes grouped by, in the order of their values.
  std::vector<std::pair<std::vector<std::string>, model::AggregateSink::Group>> groups;
  model::SweepCounts counts;
};

[[nodiscard]] std::string sweep_table(const SweepReport& report);
/// `mansard.sweep/1`.
[[nodiscard]] std::string sweep_json(const SweepReport& report);
[[nodiscard]] std::string sweep_csv(const SweepReport& report);
/// What is shown as plain columns: points' axes and outputs, or groups, their sizes and aggregates.
struct SweepRows {
  std::vector<SweepColumn> columns;
  std::vector<SweepReport::Row> rows;
};
[[nodiscard]] SweepRows sweep_rows(const SweepReport& report);
/// A JSON object for each of them, a line each.
[[nodiscard]] std::string sweep_json_lines(const SweepReport& report);
/// "190,020,000 points; 12 of them cannot run: does not fit in memory".
[[nodiscard]] std::string sweep_counts(const model::SweepCounts& counts);

}  // namespace mansard::cli
