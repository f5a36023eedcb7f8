#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/core.h>

#include "ir/derivative.hpp"
#include "ir/expr_rules.hpp"
#include "ir/expr_walk.hpp"

namespace mansard::ir {

namespace {

/// What a node decides, in the form that is asked for; absent where it decides nothing.
using Decision = Expr (*)(Expr node);

/// `e`, of a function's body, with the arguments of a call put in for the parameters.
Expr with_arguments(Expr e, const Function& function, std::span<const Expr> arguments) {
  return substitute(e, e.pool(), [&](const ExprNode& symbol) {
    const auto parameters = function.parameters();
    const auto found = std::ranges::find(parameters, Expr(&symbol));
    return found == parameters.end()
               ? Expr()
               : arguments[static_cast<std::size_t>(found - parameters.begin())];
  });
}

/// Expressions in the order in which they were found, each once.
class Collection {
 public:
  void add(Expr e) {
    if (e && !e.is_constant() && seen_.insert(&e.node()).second) {
      found_.push_back(e);
    }
  }
  std::vector<Expr> take() { return std::move(found_); }

 private:
  std::vector<Expr> found_;
  std::unordered_set<const ExprNode*> seen_;
};

/// Finds the decisions of expressions and of every function that they call, in terms of what the
/// expressions read.
class Finder {
 public:
  explicit Finder(Decision decision) : decision_(decision) {}

  std::vector<Expr> operator()(Expr root, Expr symbol) {
    std::vector<Expr> found = of(root);
    std::erase_if(found, [&](Expr e) {
      const auto symbols = symbols_of(e);
      return std::ranges::find(symbols, symbol) == symbols.end();
    });
    return found;
  }

 private:
  std::vector<Expr> of(Expr root) {
    Collection collection;
    for (const Expr node : breadth_first({&root, 1})) {
      collection.add(decision_(node));
      if (node->kind == ExprKind::kCall && !is_math(*node->function)) {
        for (const Expr inner : of(*node->function)) {
          collection.add(with_arguments(inner, *node->function, node->operands));
        }
      }
    }
    return collection.take();
  }

  const std::vector<Expr>& of(const Function& function) {
    const auto known = functions_.find(&function);
    return known != functions_.end()
               ? known->second
               : functions_.emplace(&function, of(function.body())).first->second;
  }

  Decision decision_;
  std::unordered_map<const Function*, std::vector<Expr>> functions_;
};

Expr difference(Expr node) {
  switch (node->kind) {
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kLess:
      return node->operands[0] - node->operands[1];
    case ExprKind::kSelect:
      return node->operands[0]->kind == ExprKind::kLess ? Expr() : node->operands[0];
    default:
      return {};
  }
}

/// The row that a reduction chooses: the same table with the number of each row in one more column.
Expr chosen_row(Expr node) {
  if (node->reduction == Reduction::kSum) {
    return {};
  }
  ExprPool& pool = node.pool();
  const Table& table = *node->table;
  std::vector<std::string> columns(table.columns().begin(), table.columns().end());
  columns.emplace_back("row");
  std::vector<double> values;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    values.insert(values.end(), table.row(r).begin(), table.row(r).end());
    values.push_back(static_cast<double>(r));
  }
  const Expr row = pool.symbol("numbered.row");
  const auto given = node->function->parameters();
  std::vector<Expr> parameters(given.begin(), given.end());
  parameters.insert(parameters.begin() + static_cast<std::ptrdiff_t>(table.columns().size()), row);
  const bool is_greatest = node->reduction == Reduction::kMax;
  const Expr key = pool.call(*node->function, {given.begin(), given.end()});
  const auto name = fmt::format("{}.{}_of_{}", node->function->name(),
                                is_greatest ? "greatest" : "least", table.columns().size());
  const Function& numbered = pool.define(name, parameters, is_greatest ? -1 * key : key);
  const Function& number = pool.define(numbered.name() + ".row", parameters, row);
  const Table& rows =
      pool.add_table(table.name() + ".numbered", std::move(columns), std::move(values));
  return pool.reduce(Reduction::kAtMin, rows, numbered, node->operands, &number);
}

Expr choice(Expr node) {
  switch (node->kind) {
    case ExprKind::kMin:
      return less(node->operands[1], node->operands[0]);
    case ExprKind::kMax:
    case ExprKind::kLess:
      return less(node->operands[0], node->operands[1]);
    case ExprKind::kSelect: {
      const Expr condition = node->operands[0];
      ExprPool& pool = node.pool();
      return condition->kind == ExprKind::kLess
                 ? Expr()
                 : select(condition, pool.constant(1), pool.constant(0));
    }
    case ExprKind::kReduce:
      return chosen_row(node);
    default:
      return {};
  }
}

}  // namespace

std::vector<Expr> kinks_of(Expr expression, Expr symbol) {
  return Finder(difference)(expression, symbol);
}

std::vector<Expr> choices_of(Expr expression, Expr symbol) {
  return Finder(choice)(expression, symbol);
}

}  // namespace mansard::ir
