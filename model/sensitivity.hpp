#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/expr_eval.hpp"
#include "model/outputs.hpp"
#include "model/prediction.hpp"
#include "support/result.hpp"

/// How an output of a prediction answers to each parameter of machine and workload.
namespace mansard::model {

/// One parameter at the point asked about.
struct Sensitivity {
  std::string parameter;  ///< "hbm.bandwidth", "batch".
  Dimension dimension;
  double value = 0;
  bool integer = false;   ///< Counted: `derivative` is the change to the next whole number.
  double derivative = 0;  ///< d output / d parameter, in base units.
  double elasticity =
      0;  ///< d log output / d log parameter: -0.5 is half a percent less per percent more.
  /// The point is at a kink (two things bind alike): the derivative is that of the branch taken.
  bool one_sided = false;
  /// The next greater value at which another resource binds some op, and which.
  std::optional<double> kink;
  std::string kink_what;  ///< "mlp.gate_up: hbm -> matrix.bf16".
  /// From this greater value on the output changes by less than a hundredth of a percent per
  /// percent.
  std::optional<double> pays_until;
};

/// The sensitivities of one output, greatest elasticity first; parameters that it does not depend
/// on are left out, calibration parameters too. Derivatives are exact: symbolic, of the smooth
/// parts.
[[nodiscard]] std::vector<Sensitivity> sensitivities(const Predictor& predictor,
                                                     const Output& output, const ir::Bindings& at);

/// The value of a parameter at which an output reaches a goal.
struct GoalAnswer {
  std::optional<double>
      value;  ///< Nearest to the present one; absent: none from a thousandth to a thousandfold.
  double present = 0;  ///< Of the output.
  double least = 0;    ///< Of the output over the values tried.
  double greatest = 0;
};

/// Solves output(parameter) = goal; of a counted parameter the whole number nearest to the present
/// one beyond which the goal is passed.
[[nodiscard]] GoalAnswer solve_goal(const Output& output, ir::Expr parameter, double goal,
                                    const ir::Bindings& at);

/// Whether a parameter takes whole numbers only: batch, context, sm_count, stacks.
[[nodiscard]] bool is_counted(std::string_view parameter);

}  // namespace mansard::model
