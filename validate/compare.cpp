#include "validate/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "validate/baseline.hpp"
#include "validate/calibrate.hpp"
#include "validate/cases.hpp"
#include "validate/class_model.hpp"

namespace mansard::validate {
namespace {

constexpr double kBoundTolerance = 0.98;
constexpr std::size_t kWorst = 5;

using ClassKey = std::tuple<std::string, std::string, std::string, std::string, std::string>;

double quantile(std::vector<double> values, double q) {
  if (values.empty()) {
    return 0;
  }
  const auto rank = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

double log_error(const Comparison& c) {
  return std::abs(std::log(c.estimate / c.row->median_s));
}

Errors errors_of_rows(const std::vector<Comparison>& comparisons) {
  std::vector<double> estimates;
  std::vector<double> measured;
  for (const Comparison& c : comparisons) {
    estimates.push_back(c.estimate);
    measured.push_back(c.row->median_s);
  }
  return errors_of(estimates, measured);
}

void add_intervals(const std::vector<Comparison>& rows, ClassReport& report) {
  std::vector<double> widths;
  std::size_t inside = 0;
  for (const Comparison& c : rows) {
    widths.push_back(c.high / c.low);
    inside += c.low <= c.row->median_s && c.row->median_s <= c.high ? 1 : 0;
  }
  report.interval_width = quantile(widths, 0.5);
  report.interval_coverage =
      rows.empty() ? 0 : static_cast<double>(inside) / static_cast<double>(rows.size());
}

void add_baselines(const std::vector<Comparison>& rows, ClassReport& report) {
  std::vector<double> roofline;
  std::vector<double> measured;
  for (const Comparison& c : rows) {
    roofline.push_back(c.roofline);
    measured.push_back(c.row->median_s);
  }
  report.roofline_mape = errors_of(roofline, measured).mape;
  report.three_constant_mape = errors_of(three_constant_estimates(rows), measured).mape;
}

void summarise(ClassReport& report) {
  std::vector<Comparison> scored;
  std::vector<Comparison> flagged;
  for (const Comparison& c : report.comparisons) {
    (c.flagged() ? flagged : scored).push_back(c);
  }
  report.rows = scored.size();
  report.flagged = flagged.size();
  report.errors = errors_of_rows(scored);
  report.flagged_errors = errors_of_rows(flagged);
  add_intervals(scored, report);
  add_baselines(scored, report);
  std::copy_if(scored.begin(), scored.end(), std::back_inserter(report.violations),
               [](const Comparison& c) { return c.violates(); });
  report.bound_violations = report.violations.size();
  // Rows of equal error keep the order of the file.
  std::sort(scored.begin(), scored.end(), [](const Comparison& a, const Comparison& b) {
    return std::pair(-log_error(a), a.row->location.begin) <
           std::pair(-log_error(b), b.row->location.begin);
  });
  scored.resize(std::min(scored.size(), kWorst));
  report.worst = std::move(scored);
}

class Comparer {
 public:
  Comparer(const hardware::Machine& machine, const model::Calibration& calibration,
           const ValidateOptions& options)
      : machine_(machine), calibration_(calibration), options_(options) {
    report_.machine = machine.name;
    report_.calibration = calibration.name;
  }

  void add(const ir::Measurement& row) {
    if (row.machine != machine_.name) {
      ++report_.other_machines;
      return;
    }
    ClassReport& report = class_of(row);
    Result<ClassModel>& model = model_of(row);
    if (!model) {
      ++report.skipped;
      const std::string& reason = model.error().front().message;
      if (std::find(report.skip_reasons.begin(), report.skip_reasons.end(), reason) ==
          report.skip_reasons.end()) {
        report.skip_reasons.push_back(reason);
      }
      return;
    }
    Comparison comparison = model->compare(row);
    comparison.seen = calibration_.saw(row_hash(row));
    report.calibrated_on_these_rows = report.calibrated_on_these_rows || comparison.seen;
    report.comparisons.push_back(comparison);
  }

  Report finish() {
    for (ClassReport& report : report_.classes) {
      summarise(report);
      for (Comparison& worst : report.worst) {
        worst.why = model_of(*worst.row)->explain(*worst.row);
      }
    }
    return std::move(report_);
  }

 private:
  ClassReport& class_of(const ir::Measurement& row) {
    const ClassKey key{row.op, row.dtype, row.implementation, row.mode, row.phase};
    const auto [at, fresh] = classes_.try_emplace(key, report_.classes.size());
    if (fresh) {
      report_.classes.push_back({.op = row.op,
                                 .dtype = row.dtype,
                                 .implementation = row.implementation,
                                 .mode = row.mode,
                                 .phase = row.phase});
    }
    return report_.classes[at->second];
  }

  Result<ClassModel>& model_of(const ir::Measurement& row) {
    const std::string key = case_key(row);
    auto found = models_.find(key);
    if (found == models_.end()) {
      found = models_.emplace(key, ClassModel::build(row, machine_, calibration_, options_)).first;
    }
    return found->second;
  }

  const hardware::Machine& machine_;
  const model::Calibration& calibration_;
  const ValidateOptions& options_;
  Report report_;
  std::map<ClassKey, std::size_t> classes_;
  std::map<std::string, Result<ClassModel>> models_;
};

}  // namespace

bool Comparison::violates() const {
  return row->median_s + row->resolution_s < kBoundTolerance * bound;
}

std::string without_version(const std::string& implementation) {
  const std::size_t dash = implementation.rfind('-');
  if (dash == std::string::npos || dash + 1 == implementation.size()) {
    return implementation;
  }
  const bool version =
      implementation.find_first_not_of("0123456789.", dash + 1) == std::string::npos;
  // "flash-attention-2" is a name: a major number alone is part of it unless the library is known
  // by its version.
  const bool named = implementation.rfind('-', dash - 1) != std::string::npos &&
                     implementation.find('.', dash) == std::string::npos;
  return version && !named ? implementation.substr(0, dash) : implementation;
}

Errors errors_of(const std::vector<double>& estimates, const std::vector<double>& measured) {
  Errors result;
  if (estimates.empty()) {
    return result;
  }
  std::vector<double> absolute;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const double relative = estimates[i] / measured[i] - 1;
    absolute.push_back(std::abs(relative));
    result.bias += relative;
    result.mean_abs_log += std::abs(std::log(estimates[i] / measured[i]));
  }
  const auto n = static_cast<double>(absolute.size());
  result.mape = std::accumulate(absolute.begin(), absolute.end(), 0.0) / n;
  result.bias /= n;
  result.mean_abs_log /= n;
  result.median = quantile(absolute, 0.5);
  result.p90 = quantile(absolute, 0.9);
  return result;
}

Result<Report> compare(const std::vector<ir::Measurement>& rows, const hardware::Machine& machine,
                       const model::Calibration& calibration, const ValidateOptions& options) {
  Comparer comparer(machine, calibration, options);
  for (const ir::Measurement& row : rows) {
    comparer.add(row);
  }
  return comparer.finish();
}

}  // namespace mansard::validate
