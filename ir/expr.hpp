#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/dimension.hpp"

/// Expressions: what a model is made of. A model builds them; it never computes numbers.
///
///     ExprPool pool;
///     Expr batch = pool.symbol("batch");
///     Expr work = 2 * batch * 4096 * 6144 * pool.unit(kFlop);              // dimension: FLOP
///     Expr time = work / pool.symbol("matrix.bf16", kFlopPerSecond);       // dimension: second
///     double seconds = value(time, bindings);                              // ir/expr_eval.hpp
///
/// Expressions form a hash-consed DAG that their pool owns: equal expressions of one pool are one
/// node, so sharing is free and equality is a pointer comparison. Expressions of different pools do
/// not mix (asserted); `import` copies. Every node carries its physical dimension; adding or
/// comparing unlike dimensions is a broken invariant (asserted).
///
/// Building simplifies (x + 0, x * 1, 0 * x, min(x, x), constants whose result is exact, ...) and
/// never changes what an expression denotes: `count` is the same integer, and `value` has the same
/// bits wherever every operand is finite, the sign of a zero excepted. Both orders of a sum,
/// product, min or max are one node, written as it was written first.
namespace mansard::ir {

class ExprPool;
class Function;
class Table;

enum class ExprKind : std::uint8_t {
  kConstant,
  kSymbol,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,  ///< floor(a / b) of dimension-sized integers, each below 2^53.
  kCeilDiv,   ///< ceil(a / b), likewise.
  kMod,       ///< a - b * floor(a / b), likewise.
  kMin,
  kMax,
  kFloor,      ///< Greatest integer not above a number.
  kLess,       ///< 1 if a < b, else 0.
  kSelect,     ///< select(c, x, y): x if c != 0, else y.
  kScale2,     ///< scale2(x, n) = x * 2^n, exact; n an integer in [-1100, 1100].
  kExponent2,  ///< The integer e with 2^e <= x < 2^(e+1), of a positive normal x.
  kCall,       ///< call(function, arguments): a body built once, compiled once, called many times.
  kReduce,     ///< Over the rows of a constant table; see `Reduction`.
};

struct ExprNode;

/// A handle to a node; as cheap to copy as a pointer. A default-constructed `Expr` is absent and
/// converts to false.
class Expr {
 public:
  Expr() = default;
  explicit Expr(const ExprNode* node) : node_(node) {}

  [[nodiscard]] explicit operator bool() const { return node_ != nullptr; }
  [[nodiscard]] const ExprNode& node() const { return *node_; }
  [[nodiscard]] const ExprNode* operator->() const { return node_; }
  [[nodiscard]] const Dimension& dimension() const;
  [[nodiscard]] ExprPool& pool() const;
  [[nodiscard]] bool is_constant() const;
  /// The value of a constant, in SI base units. Only for constants.
  [[nodiscard]] double constant() const;

  friend bool operator==(Expr a, Expr b) { return a.node_ == b.node_; }

 private:
  const ExprNode* node_ = nullptr;
};

/// How a table node reduces over rows r: the least, greatest or sum of key(r); or payload(r) at the
/// row of least key (the first such row).
enum class Reduction : std::uint8_t { kMin, kMax, kSum, kAtMin };

/// A node. Immutable; `id` counts nodes of a pool in order of creation, so operands always have
/// smaller ids.
struct ExprNode {
  ExprKind kind = ExprKind::kConstant;
  Reduction reduction = Reduction::kMin;  ///< kReduce only.
  std::uint32_t id = 0;
  Dimension dimension;
  double constant = 0;                 ///< kConstant only.
  std::string_view symbol;             ///< kSymbol only; owned by the pool.
  const Function* function = nullptr;  ///< kCall: the callee. kReduce: the key.
  const Function* payload = nullptr;   ///< kReduce kAtMin: what is returned.
  const Table* table = nullptr;        ///< kReduce only.
  ExprPool* pool = nullptr;
  std::vector<Expr> operands;  ///< Arguments of kCall and kReduce.
};

/// A named body over parameters, which are symbols of the pool. Parameters of a reduced function
/// begin with the columns of the table, in order; the call's arguments follow. A body may call
/// other functions but not itself.
class Function {
 public:
  Function(std::string name, std::vector<Expr> parameters, Expr body)
      : name_(std::move(name)), parameters_(std::move(parameters)), body_(body) {}
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<const Expr> parameters() const { return parameters_; }
  [[nodiscard]] Expr body() const { return body_; }

 private:
  std::string name_;
  std::vector<Expr> parameters_;
  Expr body_;
};

/// A small constant table, row-major: tile shapes, for instance. Columns are plain numbers in the
/// units of the parameters they bind.
class Table {
 public:
  Table(std::string name, std::vector<std::string> columns, std::vector<double> values)
      : name_(std::move(name)), columns_(std::move(columns)), values_(std::move(values)) {}
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<const std::string> columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return values_.size() / columns_.size(); }
  [[nodiscard]] std::span<const double> row(std::size_t r) const {
    return std::span(values_).subspan(r * columns_.size(), columns_.size());
  }

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<double> values_;
};

/// Owns nodes, functions and tables. Not thread-safe: one thread builds, any number may then
/// evaluate.
class ExprPool {
 public:
  ExprPool();
  ~ExprPool();
  ExprPool(const ExprPool&) = delete;
  ExprPool& operator=(const ExprPool&) = delete;

  [[nodiscard]] Expr constant(double value, const Dimension& dimension = kNumber);
  /// 1 of a dimension, to give a count its unit: `2 * m * pool.unit(kFlop)`.
  [[nodiscard]] Expr unit(const Dimension& dimension) { return constant(1, dimension); }
  /// The symbol of that name. A name has one dimension in a pool (asserted).
  [[nodiscard]] Expr symbol(std::string_view name, const Dimension& dimension = kNumber);
  /// The symbol of that name if the pool has it.
  [[nodiscard]] Expr find_symbol(std::string_view name) const;

  /// Functions are found again by name: defining one twice gives the first (their bodies must
  /// agree, asserted).
  const Function& define(std::string name, std::vector<Expr> parameters, Expr body);
  [[nodiscard]] const Function* find_function(std::string_view name) const;
  /// The names of all functions, sorted.
  [[nodiscard]] std::vector<std::string> function_names() const;
  /// Tables too are found again by name: adding one twice gives the first (their values must agree,
  /// asserted).
  const Table& add_table(std::string name, std::vector<std::string> columns,
                         std::vector<double> values);
  [[nodiscard]] const Table* find_table(std::string_view name) const;

  [[nodiscard]] std::size_t size() const;  ///< Number of nodes.

  /// The node of that kind with those operands, simplified. The free functions below read better.
  [[nodiscard]] Expr make(ExprKind kind, std::vector<Expr> operands);
  [[nodiscard]] Expr call(const Function& function, std::vector<Expr> arguments);
  [[nodiscard]] Expr reduce(Reduction reduction, const Table& table, const Function& key,
                            std::vector<Expr> arguments, const Function* payload = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
/// A bare number takes part as a constant without dimension in products and quotients, and with the
/// other side's dimension in sums and differences: `m - 1`, `2 * m`.
Expr operator+(Expr a, double b);
Expr operator-(Expr a, double b);
Expr operator*(Expr a, double b);
Expr operator/(Expr a, double b);
Expr operator+(double a, Expr b);
Expr operator-(double a, Expr b);
Expr operator*(double a, Expr b);
Expr operator/(double a, Expr b);

[[nodiscard]] Expr floor_div(Expr a, Expr b);
[[nodiscard]] Expr floor_div(Expr a, double b);
[[nodiscard]] Expr ceil_div(Expr a, Expr b);
[[nodiscard]] Expr ceil_div(Expr a, double b);
[[nodiscard]] Expr mod(Expr a, Expr b);
[[nodiscard]] Expr mod(Expr a, double b);
[[nodiscard]] Expr min(Expr a, Expr b);
[[nodiscard]] Expr min(Expr a, double b);
[[nodiscard]] Expr max(Expr a, Expr b);
[[nodiscard]] Expr max(Expr a, double b);
[[nodiscard]] Expr floor(Expr a);
/// 1 if a < b, else 0.
[[nodiscard]] Expr less(Expr a, Expr b);
[[nodiscard]] Expr less(Expr a, double b);
/// `x` where `condition` is not zero, else `y`. Both sides are evaluated.
[[nodiscard]] Expr select(Expr condition, Expr x, Expr y);
[[nodiscard]] Expr scale2(Expr x, Expr n);
[[nodiscard]] Expr exponent2(Expr x);

/// 2^x, log2(x) and x^y of plain numbers, as function nodes over the operations above
/// (ir/expr_math.cpp states the polynomials and their errors in ulp), so that every back end
/// computes the same bits. pow needs x > 0.
[[nodiscard]] Expr exp2(Expr x);
[[nodiscard]] Expr log2(Expr x);
[[nodiscard]] Expr pow(Expr x, Expr y);

/// Every symbol that `expression` reads, through functions too (their parameters excepted), sorted
/// by name.
[[nodiscard]] std::vector<Expr> symbols_of(Expr expression);
[[nodiscard]] std::vector<Expr> symbols_of(std::span<const Expr> expressions);

/// `expression` with symbols replaced by what `replacement` gives for them; an absent `Expr` leaves
/// the symbol. The result lives in `target`, which may be another pool: this is also how
/// expressions are copied between pools.
[[nodiscard]] Expr substitute(Expr expression, ExprPool& target,
                              const std::function<Expr(const ExprNode&)>& replacement);
[[nodiscard]] Expr import(Expr expression, ExprPool& target);

}  // namespace mansard::ir
