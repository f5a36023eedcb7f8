#include "validate/least_squares.hpp"

#include <cmath>

#include <Eigen/Dense>
#include <unsupported/Eigen/NonLinearOptimization>

namespace mansard::validate {
namespace {

constexpr double kStep = 1e-4;
constexpr int kMostEvaluations = 40;

/// Soft L1: its square grows like 2 |z| far from zero.
double softened(double residual, double outlier) {
  const double z = residual / outlier;
  return std::copysign(outlier * std::sqrt(2 * (std::sqrt(1 + z * z) - 1)), residual);
}

/// The residuals followed by the prior's, as Eigen's solver wants them.
struct Functor {
  using Scalar = double;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };  // NOLINT
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;

  explicit Functor(const LeastSquaresProblem& p)
      : problem(p), unknowns(static_cast<Eigen::Index>(p.start.size())) {}

  [[nodiscard]] int inputs() const { return static_cast<int>(unknowns); }
  [[nodiscard]] int values() const {
    return static_cast<int>(problem.residuals) + static_cast<int>(unknowns);
  }

  int operator()(const InputType& x, ValueType& out) const {
    out.resize(values());
    const auto measured = static_cast<Eigen::Index>(problem.residuals);
    problem.evaluate({x.data(), problem.start.size()}, {out.data(), problem.residuals});
    for (Eigen::Index i = 0; i < measured; ++i) {
      out[i] = softened(out[i], problem.outlier);
    }
    for (Eigen::Index i = 0; i < unknowns; ++i) {
      const double from_start = x[i] - problem.start[static_cast<std::size_t>(i)];
      out[measured + i] = problem.outlier * from_start / problem.prior;
    }
    return 0;
  }

  int df(const InputType& x, JacobianType& jacobian) const {
    ValueType here;
    ValueType there;
    (*this)(x, here);
    jacobian.resize(values(), unknowns);
    for (Eigen::Index i = 0; i < unknowns; ++i) {
      InputType moved = x;
      moved[i] += kStep;
      (*this)(moved, there);
      jacobian.col(i) = (there - here) / kStep;
    }
    return 0;
  }

  const LeastSquaresProblem& problem;
  Eigen::Index unknowns;
};

/// Of the posterior: residuals of the size that counts as an outlier's beginning, and the prior.
std::vector<double> standard_errors(const Functor& functor, const Eigen::VectorXd& x) {
  Eigen::MatrixXd jacobian;
  functor.df(x, jacobian);
  const Eigen::MatrixXd covariance = (jacobian.transpose() * jacobian).inverse();
  std::vector<double> result;
  for (Eigen::Index i = 0; i < functor.unknowns; ++i) {
    result.push_back(functor.problem.outlier * std::sqrt(covariance(i, i)));
  }
  return result;
}

}  // namespace

LeastSquaresSolution solve(const LeastSquaresProblem& problem) {
  Functor functor(problem);
  Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(
      problem.start.data(), static_cast<Eigen::Index>(problem.start.size()));
  Eigen::LevenbergMarquardt<Functor> solver(functor);
  solver.parameters.maxfev = kMostEvaluations;
  solver.parameters.ftol = 1e-5;
  solver.parameters.xtol = 1e-5;
  solver.minimize(x);
  return {.x = {x.data(), x.data() + x.size()}, .error = standard_errors(functor, x)};
}

}  // namespace mansard::validate
