#include "cli/views/plot/scatter.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/views/validation.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

std::string panel_name(const validate::ClassReport& report) {
  return report.phase.empty() ? report.op : report.op + " " + report.phase;
}

Scatter::Dot dot_of(const validate::Comparison& c) {
  return {.measured_s = c.row->median_s,
          .estimate_s = c.estimate,
          .flagged = c.flagged(),
          .title = fmt::format("{}: measured {}, estimate {} ({:+.0f} %)", shape_of(*c.row),
                               format_measure(c.row->median_s, kSecond),
                               format_measure(c.estimate, kSecond),
                               100 * (c.estimate / c.row->median_s - 1))};
}

Scatter::Panel& panel_of(Scatter& scatter, const std::string& name) {
  const auto found = std::find_if(scatter.panels.begin(), scatter.panels.end(),
                                  [&](const Scatter::Panel& panel) { return panel.name == name; });
  return found != scatter.panels.end() ? *found : scatter.panels.emplace_back(Scatter::Panel{name});
}

std::string summary_of(const Scatter::Panel& panel) {
  std::vector<double> estimates;
  std::vector<double> measured;
  for (const Scatter::Series& series : panel.series) {
    for (const Scatter::Dot& dot : series.dots) {
      if (!dot.flagged) {
        estimates.push_back(dot.estimate_s);
        measured.push_back(dot.measured_s);
      }
    }
  }
  const validate::Errors errors = validate::errors_of(estimates, measured);
  return fmt::format("{} rows, mean {:.1f} %, bias {:+.1f} %", measured.size(), 100 * errors.mape,
                     100 * errors.bias);
}

}  // namespace

Scatter scatter(const validate::Report& report) {
  Scatter result{.heading =
                     fmt::format("{}: estimate against measurement, calibration {}", report.machine,
                                 report.calibration.empty() ? "none" : report.calibration)};
  for (const validate::ClassReport& one : report.classes) {
    if (one.comparisons.empty()) {
      continue;
    }
    Scatter::Series series{.name =
                               fmt::format("{} {} {}", one.dtype, one.implementation, one.mode)};
    for (const validate::Comparison& comparison : one.comparisons) {
      series.dots.push_back(dot_of(comparison));
    }
    panel_of(result, panel_name(one)).series.push_back(std::move(series));
  }
  for (Scatter::Panel& panel : result.panels) {
    panel.summary = summary_of(panel);
  }
  return result;
}

}  // namespace mansard::cli
