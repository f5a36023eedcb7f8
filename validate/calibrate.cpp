#include "validate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "validate/cases.hpp"
#include "validate/class_model.hpp"
#include "validate/least_squares.hpp"
#include "validate/measurements.hpp"
#include "validate/single_op.hpp"

namespace mansard::validate {
namespace {

constexpr std::string_view kPrefix = "cal.";
constexpr std::size_t kFewestRows = 8;
constexpr std::size_t kFewestForInterval = 10;
constexpr std::size_t kFewestOfType = 20;  ///< For an interval of a type's own.
constexpr double kOutside = 0.05;          ///< Share of rows beyond each end of an interval.
/// Standard deviation of the logarithm of what one op took in two campaigns on one kind of machine:
/// medians of six formats and two attentions differ by 0.96 to 1.00 (validate/results/README of
/// h200-sxm.2026-11-30T23; fp8 and int8, called otherwise there, aside).
constexpr double kBetweenCampaigns = 0.026;
constexpr double kNormal95 = 1.645;
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
  bool apart = false;  ///< No fit sees it.
};

/// Dims that say how much work there is, not of which weight or head.
bool is_workload(std::string_view dim) {
  constexpr std::string_view kWorkload[] = {"m",        "rows",           "tokens", "batch",
                                            "q_len",    "bytes",          "kv_len", "context",
                                            "elements", "experts_touched"};
  return std::ranges::find(kWorkload, dim) != std::end(kWorkload);
}

std::uint64_t shape_hash(const ir::Measurement& row, bool with_workload) {
  std::string shape;
  for (const auto& [name, value] : row.dims) {
    const bool counts = describes_shape(name) && (with_workload || !is_workload(name));
    shape += counts ? fmt::format("{}={};", name, value) : "";
  }
  return hash_text(with_workload ? shape : shape + row.model);
}

/// "matmul.interval.launch.low" of fp8 rows: "matmul.fp8.interval.launch.low"; empty where a type
/// has no interval of its own.
std::string of_type(const std::string& path, const ir::Measurement& row) {
  constexpr std::string_view kShared = "matmul.interval.";
  const RowTypes types = row_types(row.dtype);
  if (!path.starts_with(kShared) || row.op != "matmul" || types.activation != types.weight) {
    return {};
  }
  return fmt::format("matmul.{}.interval.{}", types.weight->name, path.substr(kShared.size()));
}

/// What rows that no fit saw took over what was expected of them, by campaign.
using Ratios = std::map<std::string, std::vector<double>>;

/// Rows of one file were measured in one go.
std::string campaign_of(const ir::Measurement& row) {
  return row.location.file ? row.location.file->name : std::string();
}

std::size_t count_of(const Ratios& ratios) {
  std::size_t count = 0;
  for (const auto& [campaign, values] : ratios) {
    count += values.size();
  }
  return count;
}

/// The factor below or above the estimate beyond which lies `kOutside` of the rows, each campaign
/// weighing the same.
double reach(const Ratios& ratios, bool low) {
  std::vector<std::pair<double, double>> beyond;  // ln(factor), weight
  for (const auto& [campaign, values] : ratios) {
    const double weight = 1 / static_cast<double>(values.size() * ratios.size());
    for (const double ratio : values) {
      beyond.emplace_back(low ? -std::log(ratio) : std::log(ratio), weight);
    }
  }
  std::sort(beyond.rbegin(), beyond.rend());
  double outside = 0;
  double end = 0;
  for (const auto& [factor, weight] : beyond) {
    end = factor;
    outside += weight;
    if (outside >= kOutside) {
      break;
    }
  }
  end = std::max(end, 0.0);
  return std::exp(ratios.size() > 1 ? end : std::hypot(end, kNormal95 * kBetweenCampaigns));
}

/// The rows of one implementation.
struct Group {
  std::string implementation;
  std::vector<const ir::Measurement*> rows;
  std::vector<const ir::Measurement*> apart;
};

/// All rows of one implementation with the parameters that their estimates read.
class Fitter {
 public:
  Fitter(std::string implementation, const Group& group, std::map<std::string, ClassModel>& models,
         const model::Calibration& start, const CalibrateOptions& options)
      : implementation_(std::move(implementation)),
        start_(start),
        only_(options.only),
        keeps_(options.keep) {
    add_samples(group.rows, false, models);
    add_samples(group.apart, true, models);
    assign_folds(options.folds);
    find_parameters();
  }

  Result<ImplementationFit> fit() {
    if (auto reason = refusal(); !reason.empty()) {
      return failure("calibrate", fmt::format("{}: {}", implementation_, reason));
    }
    ImplementationFit result{.implementation = implementation_};
    set_aside_undetermined(result);
    const LeastSquaresSolution whole = keeps_ ? unchanged() : solve_on(all());
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
    std::vector<std::size_t> every(samples_.size());
    std::iota(every.begin(), every.end(), std::size_t{0});
    const std::vector<double> seen = estimates(whole.x, every);
    const std::vector<double> unseen = held_out();
    add_classes(seen, unseen, result);
    add_intervals(unseen, result);
    for (const std::size_t i : all()) {
      result.rows.push_back(row_hash(*samples_[i].row));
    }
    std::sort(result.rows.begin(), result.rows.end());
    return result;
  }

 private:
  void add_samples(const std::vector<const ir::Measurement*>& rows, bool apart,
                   std::map<std::string, ClassModel>& models) {
    for (const ir::Measurement* row : rows) {
      ClassModel& model = models.at(case_key(*row));
      samples_.push_back(
          {.row = row, .model = &model, .values = model.values(*row), .apart = apart});
    }
  }

  /// All that a fit may see.
  [[nodiscard]] std::vector<std::size_t> all() const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (!samples_[i].apart) {
        indices.push_back(i);
      }
    }
    return indices;
  }

  [[nodiscard]] std::size_t distinct(bool with_workload) const {
    std::set<std::uint64_t> hashes;
    for (const std::size_t i : all()) {
      hashes.insert(shape_hash(*samples_[i].row, with_workload));
    }
    return hashes.size();
  }

  /// Rows of one weight (or head, or width) share a fold, so that a held-out row is not between two
  /// that were seen; rows of one shape where there are too few of those.
  void assign_folds(std::size_t folds) {
    shapes_ = distinct(true);
    folds_ = folds;
    const bool by_shape = distinct(false) < 2 * folds;
    for (Sample& sample : samples_) {
      sample.fold = shape_hash(*sample.row, by_shape) % folds;
    }
  }

  [[nodiscard]] bool is_asked_for(std::string_view path) const {
    return only_.empty() || std::ranges::any_of(only_, [&](const std::string& beginning) {
             return path.starts_with(beginning);
           });
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
        } else if (is_fitted(path) && is_asked_for(path) && sample.values[s] > 0) {
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
    const std::vector<std::size_t> seen = all();
    if (seen.size() < kFewestRows) {
      return fmt::format("{} rows are too few to fit (at least {})", seen.size(), kFewestRows);
    }
    if (shapes_ < 2) {
      return "all rows are of one shape";
    }
    const auto [least, most] = std::ranges::minmax_element(
        seen, {}, [&](std::size_t i) { return samples_[i].row->median_s; });
    constexpr double kSpread = 1.2;
    if (samples_[*most].row->median_s < kSpread * samples_[*least].row->median_s) {
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

  [[nodiscard]] LeastSquaresSolution solve_on(std::vector<std::size_t> which) {
    std::erase_if(which, [&](std::size_t i) { return samples_[i].unknowns.empty(); });
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

  [[nodiscard]] LeastSquaresSolution unchanged() const {
    LeastSquaresSolution result;
    for (const FittedParameter& unknown : unknowns_) {
      result.x.push_back(std::log(unknown.before));
      result.error.push_back(0);
    }
    return result;
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
        if (samples_[i].fold == fold) {
          unseen.push_back(i);
        } else if (!samples_[i].apart) {
          seen.push_back(i);
        }
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
    for (const std::size_t i : all()) {
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

  /// Of every interval's path the rows that it is of, and of a type's own where it has enough rows.
  [[nodiscard]] std::map<std::string, Ratios> ratios(const std::vector<double>& unseen) {
    std::map<std::string, Ratios> result;
    for (const auto& [path, before] : intervals_) {
      for (std::size_t i = 0; i < samples_.size(); ++i) {
        const ir::Measurement& row = *samples_[i].row;
        if (unseen[i] <= 0 || !depends(samples_[i], path)) {
          continue;
        }
        for (const std::string& of : {path, of_type(path, row)}) {
          if (!of.empty()) {
            result[of][campaign_of(row)].push_back(row.median_s / unseen[i]);
          }
        }
      }
    }
    return result;
  }

  void add_intervals(const std::vector<double>& unseen, ImplementationFit& result) {
    std::map<std::string, Ratios> found = ratios(unseen);
    for (const auto& [path, before] : intervals_) {
      found.try_emplace(path);
    }
    for (const auto& [path, rows] : found) {
      const auto before = intervals_.find(path);
      const bool shared = before != intervals_.end();
      FittedParameter interval{.path = path, .before = 1, .value = 1};
      if (shared) {
        interval.before = interval.value = before->second;
      }
      if (count_of(rows) >= (shared ? kFewestForInterval : kFewestOfType)) {
        interval.value = reach(rows, path.ends_with("low"));
        interval.determined = true;
      }
      if (shared || interval.determined) {
        add_unless_structural(interval, result.intervals);
      }
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
  const std::vector<std::string>& only_;
  bool keeps_ = false;
};

/// Rows of a machine by implementation in order of first appearance, as far as the model has a case
/// for them; rows apart of the same implementations.
class Grouping {
 public:
  Grouping(const hardware::Machine& machine, const model::Calibration& start,
           const CalibrateOptions& options, std::map<std::string, ClassModel>& models)
      : machine_(machine), start_(start), options_(options), models_(models) {}

  std::vector<Group> group(const std::vector<ir::Measurement>& rows) {
    for (const ir::Measurement& row : rows) {
      if (is_of_machine(row)) {
        auto& used = group_of(row).rows;
        add_if_known(row, used);
      }
    }
    for (const ir::Measurement& row : options_.apart) {
      const auto found = find(row);
      if (is_of_machine(row) && found != groups_.end()) {
        add_if_known(row, found->apart);
      }
    }
    return std::move(groups_);
  }

 private:
  [[nodiscard]] bool is_of_machine(const ir::Measurement& row) const {
    return row.machine == machine_.name && row.flags.empty();
  }

  std::vector<Group>::iterator find(const ir::Measurement& row) {
    return std::ranges::find(groups_, without_version(row.implementation), &Group::implementation);
  }

  Group& group_of(const ir::Measurement& row) {
    const auto found = find(row);
    return found != groups_.end()
               ? *found
               : groups_.emplace_back(Group{without_version(row.implementation), {}, {}});
  }

  void add_if_known(const ir::Measurement& row, std::vector<const ir::Measurement*>& out) {
    const std::string key = case_key(row);
    if (!models_.contains(key)) {
      auto model = ClassModel::build(row, machine_, start_, options_.validate);
      if (!model) {
        return;
      }
      models_.emplace(key, std::move(*model));
    }
    out.push_back(&row);
  }

  const hardware::Machine& machine_;
  const model::Calibration& start_;
  const CalibrateOptions& options_;
  std::map<std::string, ClassModel>& models_;
  std::vector<Group> groups_;
};

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
  for (const Group& group : Grouping(machine, start, options, models).group(rows)) {
    auto fit = Fitter(group.implementation, group, models, start, options).fit();
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
