#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/expr.hpp"
#include "ir/expr_eval.hpp"
#include "model/program/program.hpp"
#include "support/result.hpp"

namespace mansard::model {

class Kernel;

/// Expressions ready to be evaluated at very many points, as machine code where libmansard_llvm.so
/// is there and by interpretation where it is not; both give the bits of `ir::value`.
///
///     auto times = BatchFunction::make({step_time}, {.row = {"context"}, .point = {"batch"}},
///     fixed); BatchFunction::Evaluator evaluator(times);           // one per thread
///     evaluator.set_row(std::array{2048.0});
///     evaluator.evaluate(std::array{batches.data()}, batches.size(), std::array{seconds.data()});
///
/// Making one takes milliseconds (up to some hundred the first time: machine code is kept on disk);
/// a point then takes nanoseconds to a microsecond.
class BatchFunction {
 public:
  struct Options {
    bool interpret = false;  ///< No machine code.
    bool cache = true;       ///< Keep machine code on disk and take it from there.
  };

  /// `fixed` binds every other symbol (asserted); it may bind more. Errors: libmansard_llvm.so is
  /// there but fails.
  [[nodiscard]] static Result<BatchFunction> make(std::span<const ir::Expr> roots,
                                                  const Program::Symbols& symbols,
                                                  const ir::Bindings& fixed,
                                                  const Options& options);

  [[nodiscard]] bool compiled() const { return kernel_ != nullptr; }
  [[nodiscard]] const Program& program() const { return *program_; }

  /// Values of the program's fixed slots.
  [[nodiscard]] std::span<const double> fixed() const { return *fixed_; }

  class Evaluator;

 private:
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Kernel> kernel_;
  std::vector<double> fixed_values_;  ///< Of `program_->fixed_symbols`.
  std::shared_ptr<const std::vector<double>> fixed_;
};

/// Evaluates a function for one thread; shares what the function holds.
class BatchFunction::Evaluator {
 public:
  explicit Evaluator(const BatchFunction& function);
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;

  /// Values of the row's symbols; once at least, even if there are none.
  void set_row(std::span<const double> values);
  /// Evaluates `n` points: columns[i][j] is the value of point symbol i at point j, out[k][j] the
  /// value of root k there.
  void evaluate(std::span<const double* const> columns, std::size_t n,
                std::span<double* const> out);

 private:
  void evaluate_rest(std::span<const double* const> columns, std::size_t begin, std::size_t n,
                     std::span<double* const> out);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mansard::model
