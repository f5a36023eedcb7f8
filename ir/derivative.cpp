#include "ir/derivative.hpp"

#include <cassert>
#include <map>
#include <numbers>
#include <tuple>

#include "ir/expr_rules.hpp"
#include "ir/expr_walk.hpp"

namespace mansard::ir {

namespace {

using std::numbers::ln2;
using std::numbers::log2e;

// An absent `Expr` is a derivative of zero throughout.

Expr plus(Expr a, Expr b) {
  if (!a || !b) {
    return a ? a : b;
  }
  return a + b;
}

Expr minus(Expr a, Expr b) {
  if (!a || !b) {
    return a || !b ? a : -1 * b;
  }
  return a - b;
}

Expr times(Expr a, Expr b) {
  return a && b ? a * b : Expr();
}

class Differentiator {
 public:
  /// By a symbol of the pool or, within a function, by one of its parameters.
  struct Variable {
    Expr symbol;
    bool is_parameter = false;
  };

  Expr differentiate(Expr root, const Variable& by, const Function* within) {
    const Dag dag({&root, 1});
    std::vector<Expr> derivatives;
    derivatives.reserve(dag.nodes().size());
    std::vector<Expr> operands;
    for (std::size_t i = 0; i < dag.nodes().size(); ++i) {
      operands.clear();
      for (const std::uint32_t operand : dag.operands(i)) {
        operands.push_back(derivatives[operand]);
      }
      derivatives.push_back(of_node(dag.nodes()[i], operands, by, within));
    }
    return derivatives.back();
  }

 private:
  Expr of_node(Expr e, std::span<const Expr> d, const Variable& by, const Function* within) {
    switch (e->kind) {
      case ExprKind::kSymbol:
        return of_symbol(e, by, within);
      case ExprKind::kCall:
      case ExprKind::kReduce:
        return of_call(e, d, by);
      case ExprKind::kMin:
      case ExprKind::kMax:
      case ExprKind::kSelect:
        return of_branch(e, d, e.dimension() - by.symbol.dimension());
      default:
        return of_arithmetic(e, d);
    }
  }

  static Expr of_symbol(Expr e, const Variable& by, const Function* within) {
    const bool is_hidden = !by.is_parameter && within != nullptr && is_parameter(*within, e);
    return e == by.symbol && !is_hidden ? e.pool().constant(1) : Expr();
  }

  static Expr of_arithmetic(Expr e, std::span<const Expr> d) {
    switch (e->kind) {
      case ExprKind::kAdd:
        return plus(d[0], d[1]);
      case ExprKind::kSub:
        return minus(d[0], d[1]);
      case ExprKind::kMul:
        return plus(times(d[0], e->operands[1]), times(e->operands[0], d[1]));
      case ExprKind::kDiv: {
        const Expr rest = minus(d[0], times(e, d[1]));
        return rest ? rest / e->operands[1] : Expr();
      }
      case ExprKind::kScale2:
        return d[0] ? scale2(d[0], e->operands[1]) : Expr();
      default:
        return {};  // Constants, and what is constant between its steps.
    }
  }

  /// The derivative of the operand that is taken.
  static Expr of_branch(Expr e, std::span<const Expr> d, const Dimension& dimension) {
    const auto derivative_at = [&](std::size_t i) {
      return d[i] ? d[i] : e.pool().constant(0, dimension);
    };
    const auto operands = std::span(e->operands);
    if (e->kind == ExprKind::kSelect) {
      return d[1] || d[2] ? select(operands[0], derivative_at(1), derivative_at(2)) : Expr();
    }
    if (!d[0] && !d[1]) {
      return {};
    }
    const Expr takes_second =
        e->kind == ExprKind::kMin ? less(operands[1], operands[0]) : less(operands[0], operands[1]);
    return select(takes_second, derivative_at(1), derivative_at(0));
  }

  /// The chain rule; and a function may read the symbol itself.
  Expr of_call(Expr e, std::span<const Expr> d, const Variable& by) {
    if (e->kind == ExprKind::kCall && is_math(*e->function)) {
      return of_math(e, d);
    }
    const std::size_t columns = e->kind == ExprKind::kReduce ? e->table->columns().size() : 0;
    Expr sum;
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (d[i]) {
        const Expr parameter = e->function->parameters()[columns + i];
        const Expr payload_parameter =
            e->payload == nullptr ? parameter : e->payload->parameters()[columns + i];
        sum = plus(sum, times(call_partial(e, {parameter, true}, {payload_parameter, true}), d[i]));
      }
    }
    return by.is_parameter ? sum : plus(sum, call_partial(e, by, by));
  }

  static Expr of_math(Expr e, std::span<const Expr> d) {
    const Expr x = e->operands[0];
    if (e->function->name() == "exp2") {
      return times(ln2 * e, d[0]);
    }
    if (e->function->name() == "log2") {
      return d[0] ? log2e * d[0] / x : Expr();
    }
    const Expr y = e->operands[1];
    const Expr by_base = d[0] ? y * pow(x, y - 1) * d[0] : Expr();
    if (!d[1]) {
      return by_base;
    }
    ExprPool& pool = e.pool();
    const Expr slope = select(less(pool.constant(0), x), ln2 * log2(x) * e, pool.constant(0));
    return plus(by_base, slope * d[1]);
  }

  /// A call or reduction with the derivative of its function in place of the function.
  Expr call_partial(Expr e, const Variable& by, const Variable& payload_by) {
    const bool has_payload = e->payload != nullptr;
    const Function* slope =
        has_payload ? partial(*e->payload, payload_by) : partial(*e->function, by);
    if (slope == nullptr) {
      return {};
    }
    ExprPool& pool = e.pool();
    if (e->kind == ExprKind::kCall) {
      return pool.call(*slope, e->operands);
    }
    if (e->reduction == Reduction::kSum) {
      return pool.reduce(Reduction::kSum, *e->table, *slope, e->operands);
    }
    const Function& key = e->reduction == Reduction::kMax ? negated(*e->function) : *e->function;
    return pool.reduce(Reduction::kAtMin, *e->table, key, e->operands, slope);
  }

  /// The derivative of a function as a function of the same parameters; nullptr where it is zero.
  const Function* partial(const Function& function, const Variable& by) {
    const auto key = std::tuple(&function, &by.symbol.node(), by.is_parameter);
    const auto known = partials_.find(key);
    if (known != partials_.end()) {
      return known->second;
    }
    const Expr body = differentiate(function.body(), by, &function);
    const Function* defined = nullptr;
    if (body) {
      std::string name = function.name() + (by.is_parameter ? ".by." : ".by_global.");
      name += by.symbol->symbol;
      const auto parameters = function.parameters();
      defined = &body.pool().define(std::move(name), {parameters.begin(), parameters.end()}, body);
    }
    partials_.emplace(key, defined);
    return defined;
  }

  static const Function& negated(const Function& function) {
    const auto parameters = function.parameters();
    return function.body().pool().define(
        function.name() + ".negated", {parameters.begin(), parameters.end()}, -1 * function.body());
  }

  std::map<std::tuple<const Function*, const ExprNode*, bool>, const Function*> partials_;
};

}  // namespace

Expr derivative(Expr expression, Expr symbol) {
  assert(symbol->kind == ExprKind::kSymbol && &symbol.pool() == &expression.pool());
  const Expr result = Differentiator().differentiate(expression, {symbol, false}, nullptr);
  const Dimension dimension = expression.dimension() - symbol.dimension();
  return result ? result : expression.pool().constant(0, dimension);
}

}  // namespace mansard::ir
