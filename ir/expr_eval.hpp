#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/expr.hpp"
#include "support/result.hpp"

namespace mansard::ir {

class Tape;

/// Values of symbols, by name, in SI base units.
class Bindings {
 public:
  Bindings() = default;
  Bindings(std::initializer_list<std::pair<std::string_view, double>> values);
  void set(std::string_view name, double value);
  [[nodiscard]] const double* find(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, double, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, double, std::less<>> values_;
};

/// The value of `expression` in SI base units: doubles, each operation rounded once, in the order
/// of the DAG (ir/expr_semantics.hpp defines each). Every back end (JIT, WebAssembly, PTX) returns
/// the same bits. Every symbol must be bound (asserted; see `symbols_of`).
[[nodiscard]] double value(Expr expression, const Bindings& bindings);

/// Several expressions flattened once into a tape, to be evaluated at many points: shared parts are
/// computed once, and an evaluation allocates nothing. An evaluator serves one thread; a copy
/// shares the tape and serves another.
class Evaluator {
 public:
  explicit Evaluator(std::span<const Expr> roots);
  /// The symbols that must be given, in the order in which `evaluate` takes them.
  [[nodiscard]] std::span<const Expr> symbols() const;
  /// Writes the value of each root to `out`, in order.
  void evaluate(std::span<const double> symbol_values, std::span<double> out);
  void evaluate(const Bindings& bindings, std::span<double> out);

 private:
  void run(std::span<double> out);

  std::shared_ptr<const Tape> tape_;
  std::vector<double> slots_;
  std::vector<std::uint32_t> control_;
};

/// A 128-bit signed integer: FLOP, bytes and parameters of the largest models at the longest
/// contexts fit 2^127.
using Count = __int128;
[[nodiscard]] std::string to_string(Count count);

/// The exact integer that `expression` denotes. Errors: overflow past 128 bits, a quotient that is
/// not whole, a symbol bound to a fraction, an operation that has no exact meaning (exp2, log2).
[[nodiscard]] Result<Count> count(Expr expression, const Bindings& bindings);

}  // namespace mansard::ir
