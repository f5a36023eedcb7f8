#include "model/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "ir/derivative.hpp"

namespace mansard::model {
namespace {

using ir::Expr;

constexpr double kReach = 1000;       ///< How far from the present value things are looked for.
constexpr int kSteps = 400;           ///< Values tried on the way, evenly apart in their logarithm.
constexpr double kNearby = 1e-9;      ///< A kink within this share of a value is at it.
constexpr double kNegligible = 1e-4;  ///< An elasticity that no one pays for.

/// The output, its derivative and what binds each op, as functions of one parameter.
class Line {
 public:
  Line(std::vector<Expr> roots, Expr parameter, const ir::Bindings& at)
      : evaluator_(roots), values_(roots.size()) {
    for (const Expr symbol : evaluator_.symbols()) {
      place_ = symbol == parameter ? static_cast<std::ptrdiff_t>(point_.size()) : place_;
      const double* bound = at.find(symbol->symbol);
      point_.push_back(bound == nullptr ? 0 : *bound);
    }
  }

  std::span<const double> operator()(double value) {
    if (place_ >= 0) {
      point_[static_cast<std::size_t>(place_)] = value;
    }
    evaluator_.evaluate(std::span<const double>(point_), values_);
    return values_;
  }

 private:
  ir::Evaluator evaluator_;
  std::vector<double> point_;
  std::vector<double> values_;
  std::ptrdiff_t place_ = -1;
};

/// The least value above `low` and up to `high` at which `changed` holds, given that it does at
/// `high` and not at `low`.
double first_change(double low, double high, bool integer,
                    const std::function<bool(double)>& changed) {
  for (int i = 0; i < 200; ++i) {
    double middle = low + (high - low) / 2;
    middle = integer ? std::floor(middle) : middle;
    if (middle <= low || middle >= high) {
      break;
    }
    (changed(middle) ? high : low) = middle;
  }
  return high;
}

/// The first value above `from`, up to a thousandfold, at which `changed` holds.
std::optional<double> next_change(double from, bool integer,
                                  const std::function<bool(double)>& changed) {
  double low = from;
  for (int step = 1; step <= kSteps; ++step) {
    double high = from * std::pow(kReach, static_cast<double>(step) / kSteps);
    high = integer ? std::floor(high) : high;
    if (high > low && changed(high)) {
      return first_change(low, high, integer, changed);
    }
    low = std::max(low, high);
  }
  return std::nullopt;
}

/// Which of an op's bound terms is the greatest, op by op.
class Bindings {
 public:
  explicit Bindings(const CostModel& cost) : cost_(cost) {
    for (const OpCost& op : cost.ops) {
      for (const Term& term : op.bound_terms) {
        terms_.push_back(term.time.expr());
      }
    }
  }

  [[nodiscard]] const std::vector<Expr>& terms() const { return terms_; }

  [[nodiscard]] std::vector<std::size_t> binding(std::span<const double> values) const {
    std::vector<std::size_t> result;
    std::size_t first = 0;
    for (const OpCost& op : cost_.ops) {
      const auto of_op = values.subspan(first, op.bound_terms.size());
      result.push_back(
          static_cast<std::size_t>(std::max_element(of_op.begin(), of_op.end()) - of_op.begin()));
      first += of_op.size();
    }
    return result;
  }

  /// "mlp.down: hbm -> matrix.bf16" of the first op that another resource binds.
  [[nodiscard]] std::string difference(const std::vector<std::size_t>& before,
                                       const std::vector<std::size_t>& after) const {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] != after[i]) {
        const OpCost& op = cost_.ops[i];
        return fmt::format("{}: {} -> {}", cost_.graph->op(op.demand.op).name,
                           op.bound_terms[before[i]].resource, op.bound_terms[after[i]].resource);
      }
    }
    return "";
  }

 private:
  const CostModel& cost_;
  std::vector<Expr> terms_;
};

class Analysis {
 public:
  Analysis(const Predictor& predictor, const Output& output, const ir::Bindings& at)
      : bindings_(predictor.cost()), output_(output), at_(at) {}

  Sensitivity of(Expr parameter) const {
    Sensitivity result{.parameter = std::string(parameter->symbol),
                       .dimension = parameter.dimension(),
                       .value = *at_.find(parameter->symbol),
                       .integer = is_counted(parameter->symbol)};
    add_slope(parameter, result);
    if (result.elasticity != 0) {
      add_kink(parameter, result);
    }
    return result;
  }

 private:
  void add_slope(Expr parameter, Sensitivity& result) const {
    const double v = result.value;
    if (result.integer) {
      Line line({output_.expr}, parameter, at_);
      const double here = line(v)[0];
      result.derivative = line(v + 1)[0] - here;
      result.elasticity = here == 0 ? 0 : result.derivative * v / here;
      return;
    }
    const Expr slope = ir::derivative(output_.expr, parameter);
    Line line({output_.expr, slope}, parameter, at_);
    const auto here = line(v);
    result.derivative = here[1];
    result.elasticity = here[0] == 0 ? 0 : here[1] * v / here[0];
    const auto elasticity = [&](double x) {
      const auto values = line(x);
      return std::abs(values[1] * x / values[0]);
    };
    if (std::abs(result.elasticity) > kNegligible) {
      result.pays_until =
          next_change(v, false, [&](double x) { return elasticity(x) <= kNegligible; });
    }
  }

  void add_kink(Expr parameter, Sensitivity& result) const {
    const double v = result.value;
    const auto choices = ir::choices_of(output_.expr, parameter);
    if (!choices.empty() && !result.integer) {
      Line line(choices, parameter, at_);
      const auto below = line(v * (1 - kNearby));
      const std::vector<double> left(below.begin(), below.end());
      const auto above = line(v * (1 + kNearby));
      result.one_sided = !std::equal(left.begin(), left.end(), above.begin());
    }
    Line line(bindings_.terms(), parameter, at_);
    const auto here = bindings_.binding(line(v));
    result.kink = next_change(v, result.integer,
                              [&](double x) { return bindings_.binding(line(x)) != here; });
    if (result.kink) {
      result.kink_what = bindings_.difference(here, bindings_.binding(line(*result.kink)));
    }
  }

  Bindings bindings_;
  const Output& output_;
  const ir::Bindings& at_;
};

bool is_parameter(Expr symbol, const ir::Bindings& at) {
  return !symbol->symbol.starts_with("cal.") && at.find(symbol->symbol) != nullptr;
}

}  // namespace

bool is_counted(std::string_view parameter) {
  constexpr std::array<std::string_view, 3> kNames{"batch", "context", "sm_count"};
  return std::ranges::find(kNames, parameter) != kNames.end() || parameter.ends_with(".stacks") ||
         parameter.ends_with(".devices");
}

std::vector<Sensitivity> sensitivities(const Predictor& predictor, const Output& output,
                                       const ir::Bindings& at) {
  const Analysis analysis(predictor, output, at);
  std::vector<Sensitivity> result;
  for (const Expr symbol : ir::symbols_of(output.expr)) {
    if (is_parameter(symbol, at)) {
      result.push_back(analysis.of(symbol));
    }
  }
  std::erase_if(result, [](const Sensitivity& s) { return s.elasticity == 0; });
  std::ranges::sort(result, [](const Sensitivity& a, const Sensitivity& b) {
    const double left = std::abs(a.elasticity);
    const double right = std::abs(b.elasticity);
    return left != right ? left > right : a.parameter < b.parameter;
  });
  return result;
}

GoalAnswer solve_goal(const Output& output, Expr parameter, double goal, const ir::Bindings& at) {
  const double from = *at.find(parameter->symbol);
  const bool integer = is_counted(parameter->symbol);
  Line line({output.expr}, parameter, at);
  const double present = line(from)[0];
  GoalAnswer answer{.present = present, .least = present, .greatest = present};
  if (present == goal) {
    answer.value = from;
    return answer;
  }
  const bool above = present > goal;
  const auto reached = [&](double x) {
    const double y = line(x)[0];
    answer.least = std::min(answer.least, y);
    answer.greatest = std::max(answer.greatest, y);
    return above ? y <= goal : y >= goal;
  };
  const auto up = next_change(from, integer, reached);
  // Downwards: the same on the reciprocal.
  const double floor_value = integer ? 1 : from / kReach;
  std::optional<double> down;
  for (double high = from, low = from; !down && low > floor_value;) {
    high = low;
    low = std::max(floor_value, low / std::pow(kReach, 1.0 / kSteps));
    low = integer ? std::min(std::floor(low), high - 1) : low;
    if (reached(low)) {
      double inside = low;
      double outside = high;
      for (int i = 0; i < 200; ++i) {
        double middle = inside + (outside - inside) / 2;
        middle = integer ? std::floor(middle) : middle;
        if (middle <= inside || middle >= outside) {
          break;
        }
        (reached(middle) ? inside : outside) = middle;
      }
      down = inside;
    }
  }
  const auto distance = [&](double x) { return std::abs(std::log(x / from)); };
  answer.value = up && (!down || distance(*up) <= distance(*down)) ? up : down;
  return answer;
}

}  // namespace mansard::model
