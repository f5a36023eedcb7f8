#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "cli/views/text_table.hpp"
#include "cli/views/validation.hpp"
#include "support/units.hpp"
#include "validate/calibrate.hpp"

namespace mansard::cli {
namespace {

std::string percent(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}
std::string seconds(double value) {
  return format_measure(value, kSecond);
}

std::string class_name(const validate::ClassReport& c) {
  return fmt::format("{} {}{}{}", c.op, c.dtype, c.phase.empty() ? "" : " ", c.phase);
}

/// Columns that say how a row was measured, not what.
bool is_result(std::string_view column) {
  constexpr std::string_view kResults[] = {"sm_mhz", "power_w", "temp_c", "trials", "calls"};
  return column.ends_with("_us") ||
         std::find(std::begin(kResults), std::end(kResults), column) != std::end(kResults);
}

std::string row_line(const validate::Comparison& c) {
  return fmt::format("  line {}: {}: measured {}, bound {}, estimate {} ({:+.0f} %)\n",
                     line_column(c.row->location).line, shape_of(*c.row), seconds(c.row->median_s),
                     seconds(c.bound), seconds(c.estimate),
                     100 * (c.estimate / c.row->median_s - 1));
}

/// The worst rows of a class, what was left out of it and what beats its bound.
std::string details(const validate::ClassReport& c) {
  std::string text = fmt::format("\n{} {} {}", class_name(c), c.implementation, c.mode);
  text += c.calibrated_on_these_rows ? ", calibrated on some of these rows" : "";
  text += c.skipped > 0 ? fmt::format(", {} skipped ({})", c.skipped, c.skip_reasons.front()) : "";
  text += c.flagged > 0
              ? fmt::format(", {} flagged (mean {} %)", c.flagged, percent(c.flagged_errors.mape))
              : "";
  text += "\n";
  for (const validate::Comparison& row : c.worst) {
    text += row_line(row) + fmt::format("    {}\n", row.why);
  }
  for (std::size_t i = 0; i < c.violations.size() && i < c.worst.size(); ++i) {
    text += " beats the bound:" + row_line(c.violations[i]);
  }
  return text;
}

std::string summary(const validate::Report& report) {
  using Align = TextTable::Align;
  TextTable table;
  table.column("class", Align::kLeft);
  table.column("implementation", Align::kLeft);
  table.column("mode", Align::kLeft);
  for (const char* name : {"rows", "mean %", "median", "p90", "bias", "in 90 %", "width", "beats",
                           "roofline", "3-const"}) {
    table.column(name);
  }
  for (const validate::ClassReport& c : report.classes) {
    table.row({class_name(c) + (c.calibrated_on_these_rows ? " *" : ""),
               c.implementation.substr(0, 28), c.mode, fmt::format("{}", c.rows),
               percent(c.errors.mape), percent(c.errors.median), percent(c.errors.p90),
               fmt::format("{:+.1f}", 100 * c.errors.bias), percent(c.interval_coverage),
               fmt::format("{:.2f}", c.interval_width), fmt::format("{}", c.bound_violations),
               percent(c.roofline_mape), percent(c.three_constant_mape)});
  }
  return table.render();
}

}  // namespace

std::string shape_of(const ir::Measurement& row) {
  std::string text = row.model;
  for (const auto& [name, value] : row.dims) {
    if (!is_result(name)) {
      text += fmt::format("{}{}={:.15g}", text.empty() ? "" : " ", name, value);
    }
  }
  return text;
}

std::string validation_table(const validate::Report& report, bool summary_only) {
  std::string text = fmt::format(
      "{} ({}), errors in % of |estimate/measured - 1|\n\n", report.machine,
      report.calibration.empty() ? "not calibrated" : "calibration " + report.calibration);
  text += summary(report);
  for (const validate::ClassReport& c : report.classes) {
    text += summary_only ? "" : details(c);
  }
  if (report.other_machines > 0) {
    text += fmt::format("\n{} rows of other machines left out\n", report.other_machines);
  }
  return text +
         "\nbeats: rows faster than 0.98 bound, the clock's step allowed for; in 90 %: rows within "
         "[low, high];\nwidth: median high/low; roofline, 3-const: mean error of max(FLOP/rate, "
         "bytes/bandwidth), and of it\nwith two efficiencies and a start time fitted on these very "
         "rows; rows with a flag are left out of all;\n*: the calibration saw some of these rows\n";
}

std::string validation_csv(const validate::Report& report) {
  std::string text =
      "line,op,dtype,implementation,mode,phase,flags,shape,measured_s,bound_s,low_s,estimate_s,"
      "high_s,hash\n";
  for (const validate::ClassReport& c : report.classes) {
    for (const validate::Comparison& row : c.comparisons) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:016x}\n",
                          line_column(row.row->location).line, c.op, c.dtype, c.implementation,
                          c.mode, c.phase, fmt::join(row.row->flags, ";"), shape_of(*row.row),
                          row.row->median_s, row.bound, row.low, row.estimate, row.high,
                          validate::row_hash(*row.row));
    }
  }
  return text;
}

}  // namespace mansard::cli
