#include "validate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "validate/cases.hpp"
#include "validate/class_model.hpp"
#include "validate/least_squares.hpp"
#include "validate/measurements.hpp"

namespace mansard::validate {
namespace {

constexpr std::string_view kPrefix = "cal.";
constexpr std::size_t kFewestRows = 8;
constexpr std::size_t kFewestForInterval = 10;
constexpr double kPrior = 0.5;  ///< Standard deviation of ln(parameter) before the fit.
/// A parameter whose standard error stays above this the rows do not determine.
constexpr double kDetermined = 0.8 * kPrior;

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

bool is_interval(std::string_view path) {
  return path.find("interval.") != std::string_view::npos;
}

/// Counts are not fitted, and neither are parameters that the estimate does not scale with.
bool is_fitted(std::string_view path) {
  constexpr std::string_view kCounts[] = {"launches", "calls",           "least_",
                                          "most_",    "min_stages",      "line",
                                          "tile_",    "matmul.resident", "unaligned.resident",
                                          "deep",     "reserve",         "max_split"};
  return !is_interval(path) &&
         std::none_of(std::begin(kCounts), std::end(kCounts), [&](std::string_view word) {
           return path.find(word) != std::string_view::npos;
         });
}

/// A row ready to be evaluated with other parameters.
struct Sample {
  const ir::Measurement* row = nullptr;
  ClassModel* model = nullptr;
  std::vector<double> values;
  std::vector<std::pair<std::size_t, std::size_t>> unknowns;  ///< Unknown, place in `values`.
  std::size_t fold = 0;
};

/// All rows of one implementation with the parameters that their estimates read.
class Fitter {
 public:
  Fitter(std::string implementation, std::vector<const ir::Measurement*> rows,
         std::map<std::string, ClassModel>& models, const model::Calibration& start,
         std::size_t folds)
      : implementation_(std::move(implementation)), start_(start) {
    for (const ir::Measurement* row : rows) {
      ClassModel& model = models.at(case_key(*row));
      samples_.push_back({.row = row, .model = &model, .values = model.values(*row)});
    }
    assign_folds(folds);
    find_parameters();
  }

  Result<ImplementationFit> fit() {
    if (auto reason = refusal(); !reason.empty()) {
      return failure("calibrate", fmt::format("{}: {}", implementation_, reason));
    }
    ImplementationFit result{.implementation = implementation_};
    set_aside_undetermined(result);
    const LeastSquaresSolution whole = solve_on(all());
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      FittedParameter parameter = unknowns_[i];
      parameter.relative_error = whole.error[i];
      parameter.determined = true;
      parameter.value = std::exp(whole.x[i]);
      result.parameters.push_back(parameter);
    }
    for (const auto& [path, constant] : constants_) {
      add_unless_structural(constant, result.constants);
    }
    const std::vector<double> seen = estimates(whole.x, all());
    const std::vector<double> unseen = held_out();
    add_classes(seen, unseen, result);
    add_intervals(unseen, result);
    for (const Sample& sample : samples_) {
      result.rows.push_back(row_hash(*sample.row));
    }
    std::sort(result.rows.begin(), result.rows.end());
    return result;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> all() const {
    std::vector<std::size_t> indices(samples_.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      indices[i] = i;
    }
    return indices;
  }

  /// Rows of one shape share a fold, so that a held-out row's shape was never seen.
  void assign_folds(std::size_t folds) {
    std::set<std::uint64_t> shapes;
    for (Sample& sample : samples_) {
      std::string shape;
      for (const auto& [name, value] : sample.row->dims) {
        shape += describes_shape(name) ? fmt::format("{}={};", name, value) : "";
      }
      const std::uint64_t hash = hash_text(shape);
      shapes.insert(hash);
      sample.fold = hash % folds;
    }
    shapes_ = shapes.size();
    folds_ = folds;
  }

  void find_parameters() {
    std::map<std::string, std::size_t> index;
    for (Sample& sample : samples_) {
      const auto symbols = sample.model->symbols();
      for (std::size_t s = 0; s < symbols.size(); ++s) {
        const std::string_view name = symbols[s]->symbol;
        if (!name.starts_with(kPrefix)) {
          continue;
        }
        const std::string path(name.substr(kPrefix.size()));
        if (is_interval(path)) {
          intervals_.try_emplace(path, sample.values[s]);
        } else if (is_fitted(path) && sample.values[s] > 0) {
          const auto [at, fresh] = index.try_emplace(path, unknowns_.size());
          if (fresh) {
            unknowns_.push_back(
                {.path = path, .dimension = symbols[s].dimension(), .before = sample.values[s]});
          }
          sample.unknowns.emplace_back(at->second, s);
        } else {
          constants_.try_emplace(path, FittedParameter{.path = path,
                                                       .dimension = symbols[s].dimension(),
                                                       .before = sample.values[s],
                                                       .value = sample.values[s],
                                                       .determined = true});
        }
      }
    }
  }

  /// Parameters that all the rows together do not determine keep their values, and the fit is of
  /// the others alone.
  void set_aside_undetermined(ImplementationFit& result) {
    const LeastSquaresSolution first = solve_on(all());
    std::vector<FittedParameter> kept;
    std::vector<std::optional<std::size_t>> renumbered(unknowns_.size());
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      if (first.error[i] < kDetermined) {
        renumbered[i] = kept.size();
        kept.push_back(unknowns_[i]);
      } else {
        unknowns_[i].value = unknowns_[i].before;
        add_unless_structural(unknowns_[i], result.parameters);
      }
    }
    for (Sample& sample : samples_) {
      std::vector<std::pair<std::size_t, std::size_t>> places;
      for (const auto& [unknown, place] : sample.unknowns) {
        sample.values[place] = unknowns_[unknown].before;
        if (renumbered[unknown]) {
          places.emplace_back(*renumbered[unknown], place);
        }
      }
      sample.unknowns = std::move(places);
    }
    unknowns_ = std::move(kept);
  }

  /// A value that every machine has unless a calibration says otherwise needs no mention.
  void add_unless_structural(const FittedParameter& parameter,
                             std::vector<FittedParameter>& out) const {
    const auto structural = start_.structural(parameter.path);
    if (!structural || structural->value != parameter.value) {
      out.push_back(parameter);
    }
  }

  [[nodiscard]] std::string refusal() {
    if (samples_.size() < kFewestRows) {
      return fmt::format("{} rows are too few to fit (at least {})", samples_.size(), kFewestRows);
    }
    if (shapes_ < 2) {
      return "all rows are of one shape";
    }
    const auto [least, most] = std::minmax_element(
        samples_.begin(), samples_.end(),
        [](const Sample& a, const Sample& b) { return a.row->median_s < b.row->median_s; });
    constexpr double kSpread = 1.2;
    if (most->row->median_s < kSpread * least->row->median_s) {
      return "all rows take the same time (start time alone): nothing else can be told";
    }
    return {};
  }

  void evaluate(std::span<const double> x, const std::vector<std::size_t>& which,
                std::span<double> out) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      Sample& sample = samples_[which[i]];
      for (const auto& [unknown, place] : sample.unknowns) {
        sample.values[place] = std::exp(x[unknown]);
      }
      out[i] = sample.model->compare(*sample.row, sample.values).estimate;
    }
  }

  [[nodiscard]] LeastSquaresSolution solve_on(const std::vector<std::size_t>& which) {
    LeastSquaresProblem problem{.prior = kPrior};
    problem.residuals = which.size();
    for (const FittedParameter& unknown : unknowns_) {
      problem.start.push_back(std::log(unknown.before));
    }
    problem.evaluate = [&](std::span<const double> x, std::span<double> out) {
      evaluate(x, which, out);
      for (std::size_t i = 0; i < which.size(); ++i) {
        out[i] = std::log(out[i] / samples_[which[i]].row->median_s);
      }
    };
    return solve(problem);
  }

  [[nodiscard]] std::vector<double> estimates(std::span<const double> x,
                                              const std::vector<std::size_t>& which) {
    std::vector<double> result(which.size());
    evaluate(x, which, result);
    return result;
  }

  /// Each row's estimate by a fit that did not see its shape.
  [[nodiscard]] std::vector<double> held_out() {
    std::vector<double> result(samples_.size());
    for (std::size_t fold = 0; fold < folds_; ++fold) {
      std::vector<std::size_t> seen;
      std::vector<std::size_t> unseen;
      for (std::size_t i = 0; i < samples_.size(); ++i) {
        (samples_[i].fold == fold ? unseen : seen).push_back(i);
      }
      if (unseen.empty() || seen.empty()) {
        continue;
      }
      const std::vector<double> part = estimates(solve_on(seen).x, unseen);
      for (std::size_t i = 0; i < unseen.size(); ++i) {
        result[unseen[i]] = part[i];
      }
    }
    return result;
  }

  void add_classes(const std::vector<double>& seen, const std::vector<double>& unseen,
                   ImplementationFit& result) const {
    using Key = std::tuple<std::string, std::string, std::string, std::string>;
    std::map<Key, std::vector<std::size_t>> classes;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const ir::Measurement& row = *samples_[i].row;
      classes[{row.op, row.dtype, row.mode, row.phase}].push_back(i);
    }
    for (const auto& [key, rows] : classes) {
      const auto errors = [&](const std::vector<double>& all_estimates) {
        std::vector<double> estimate;
        std::vector<double> measured;
        for (const std::size_t i : rows) {
          estimate.push_back(all_estimates[i]);
          measured.push_back(samples_[i].row->median_s);
        }
        return errors_of(estimate, measured);
      };
      const auto& [op, dtype, mode, phase] = key;
      result.classes.push_back({op, dtype, mode, phase, rows.size(), errors(seen), errors(unseen)});
    }
  }

  /// Whether a row's interval depends on a parameter.
  [[nodiscard]] bool depends(Sample& sample, const std::string& path) const {
    const auto symbols = sample.model->symbols();
    for (std::size_t s = 0; s < symbols.size(); ++s) {
      if (symbols[s]->symbol.substr(std::min(kPrefix.size(), symbols[s]->symbol.size())) != path) {
        continue;
      }
      std::vector<double> values = sample.values;
      const Comparison before = sample.model->compare(*sample.row, values);
      values[s] *= 2;
      const Comparison after = sample.model->compare(*sample.row, values);
      return before.low != after.low || before.high != after.high;
    }
    return false;
  }

  /// The 5 % and 95 % quantiles of what held-out rows took, over what was expected of them.
  void add_intervals(const std::vector<double>& unseen, ImplementationFit& result) {
    for (const auto& [path, before] : intervals_) {
      std::vector<double> ratios;
      for (std::size_t i = 0; i < samples_.size(); ++i) {
        if (unseen[i] > 0 && depends(samples_[i], path)) {
          ratios.push_back(samples_[i].row->median_s / unseen[i]);
        }
      }
      FittedParameter interval{.path = path, .before = before, .value = before};
      if (ratios.size() >= kFewestForInterval) {
        std::sort(ratios.begin(), ratios.end());
        const bool low = path.ends_with("low");
        const double share = low ? 0.05 : 0.95;
        const double at =
            ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1) + 0.5)];
        interval.value = std::max(1.0, low ? 1 / at : at);
        interval.determined = true;
      }
      add_unless_structural(interval, result.intervals);
    }
  }

  std::string implementation_;
  const model::Calibration& start_;
  std::vector<Sample> samples_;
  std::vector<FittedParameter> unknowns_;
  std::map<std::string, double> intervals_;
  std::map<std::string, FittedParameter> constants_;  ///< Counts, and terms that are switched off.
  std::size_t shapes_ = 0;
  std::size_t folds_ = 1;
};

/// Rows that can be used, by implementation in order of first appearance.
std::vector<std::pair<std::string, std::vector<const ir::Measurement*>>> grouped(
    const std::vector<ir::Measurement>& rows, const std::string& machine) {
  std::vector<std::pair<std::string, std::vector<const ir::Measurement*>>> result;
  for (const ir::Measurement& row : rows) {
    if (row.machine != machine || !row.flags.empty()) {
      continue;
    }
    const std::string name = without_version(row.implementation);
    auto found = std::find_if(result.begin(), result.end(),
                              [&](const auto& group) { return group.first == name; });
    if (found == result.end()) {
      found = result.insert(result.end(), {name, {}});
    }
    found->second.push_back(&row);
  }
  return result;
}

}  // namespace

std::uint64_t row_hash(const ir::Measurement& row) {
  std::string text =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", row.machine, without_version(row.implementation),
                  row.mode, row.op, row.phase, row.dtype, row.out_dtype, row.kv_dtype);
  for (const auto& [name, value] : row.dims) {
    text += describes_shape(name) ? fmt::format("|{}={}", name, value) : "";
  }
  return hash_text(text + "|" + row.model);
}

Result<std::vector<ImplementationFit>> calibrate(const std::vector<ir::Measurement>& rows,
                                                 const hardware::Machine& machine,
                                                 const model::Calibration& start,
                                                 const CalibrateOptions& options) {
  std::vector<ImplementationFit> result;
  Diagnostics errors;
  std::map<std::string, ClassModel> models;
  for (auto& [implementation, group] : grouped(rows, machine.name)) {
    std::vector<const ir::Measurement*> usable;
    for (const ir::Measurement* row : group) {
      const std::string key = case_key(*row);
      if (!models.contains(key)) {
        auto model = ClassModel::build(*row, machine, start, options.validate);
        if (!model) {
          continue;
        }
        models.emplace(key, std::move(*model));
      }
      usable.push_back(row);
    }
    auto fit = Fitter(implementation, usable, models, start, options.folds).fit();
    if (fit) {
      result.push_back(std::move(*fit));
    } else {
      errors.insert(errors.end(), fit.error().begin(), fit.error().end());
    }
  }
  if (!errors.empty() || result.empty()) {
    return failure(
        errors.empty()
            ? Diagnostics{{.id = "calibrate", .message = "no unflagged row is of " + machine.name}}
            : std::move(errors));
  }
  return result;
}

}  // namespace mansard::validate
