#pragma once

#include <functional>
#include <span>
#include <vector>

/// Robust least squares (Levenberg-Marquardt, Eigen's port of MINPACK).
namespace mansard::validate {

struct LeastSquaresProblem {
  std::size_t residuals = 0;
  std::vector<double> start;
  /// Writes all residuals at `x`.
  std::function<void(std::span<const double> x, std::span<double> out)> evaluate;
  /// Residuals beyond this size weigh linearly (soft L1) rather than by their square.
  double outlier = 0.1;
  /// Standard deviation of the prior that holds each unknown near its start.
  double prior = 0.5;
};

struct LeastSquaresSolution {
  std::vector<double> x;
  /// Standard error of each unknown from the residuals alone, without the prior; infinite where no
  /// residual depends on it.
  std::vector<double> error;
};

/// Deterministic. Derivatives are forward differences.
[[nodiscard]] LeastSquaresSolution solve(const LeastSquaresProblem& problem);

}  // namespace mansard::validate
