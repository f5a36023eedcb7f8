#include <algorithm>
#include <cassert>
#include <map>
#include <unordered_map>

#include "ir/expr_walk.hpp"

namespace mansard::ir {

namespace {

using Symbols = std::vector<Expr>;

void sort_unique(Symbols& symbols) {
  std::ranges::sort(symbols, {}, [](Expr e) { return e->symbol; });
  const auto repeated = std::ranges::unique(symbols);
  symbols.erase(repeated.begin(), repeated.end());
}

/// Copies expressions into a pool with some symbols replaced. A function whose body reads a
/// replaced symbol `s` becomes a function `f.with.s` that takes it as one more parameter `with.s`,
/// so that parameters can capture nothing.
class Substitution {
 public:
  using Replacement = std::function<Expr(const ExprNode&)>;

  Substitution(ExprPool& target, const Replacement& replacement)
      : target_(target), replacement_(replacement) {}

  Expr operator()(Expr root) {
    for (const Function* function : functions_of({&root, 1})) {
      const Symbols& passed = passed_.emplace(function, find_passed(*function)).first->second;
      lifted(*function, passed);  // Callees come first, so this does not recurse.
    }
    return copy(root, nullptr);
  }

 private:
  /// `root` in the target, as the body of `within` or, without one, as what the caller asked for.
  Expr copy(Expr root, const Function* within) {
    const Dag dag({&root, 1});
    std::vector<Expr> copies;
    copies.reserve(dag.nodes().size());
    for (std::size_t i = 0; i < dag.nodes().size(); ++i) {
      std::vector<Expr> operands;
      for (const std::uint32_t operand : dag.operands(i)) {
        operands.push_back(copies[operand]);
      }
      copies.push_back(copy_node(dag.nodes()[i], std::move(operands), within));
    }
    return copies.back();
  }

  Expr copy_node(Expr node, std::vector<Expr> operands, const Function* within) {
    switch (node->kind) {
      case ExprKind::kConstant:
        return target_.constant(node->constant, node->dimension);
      case ExprKind::kSymbol:
        return within != nullptr && is_parameter(*within, node) ? as_itself(node)
                                                                : outside(node, within);
      case ExprKind::kCall:
      case ExprKind::kReduce:
        return copy_call(node, std::move(operands), within);
      default:
        return target_.make(node->kind, std::move(operands));
    }
  }

  Expr copy_call(Expr node, std::vector<Expr> operands, const Function* within) {
    Symbols passed = passed_.at(node->function);
    if (node->payload != nullptr) {
      const Symbols& more = passed_.at(node->payload);
      passed.insert(passed.end(), more.begin(), more.end());
      sort_unique(passed);
    }
    for (const Expr symbol : passed) {
      operands.push_back(outside(symbol, within));
    }
    const Function& function = *lifted(*node->function, passed);
    if (node->kind == ExprKind::kCall) {
      return target_.call(function, std::move(operands));
    }
    const Function* payload = node->payload == nullptr ? nullptr : lifted(*node->payload, passed);
    return target_.reduce(node->reduction, copy_table(*node->table), function, std::move(operands),
                          payload);
  }

  const Table& copy_table(const Table& table) {
    const auto columns = table.columns();
    const std::span values(table.row(0).data(), table.rows() * columns.size());
    return target_.add_table(table.name(), {columns.begin(), columns.end()},
                             {values.begin(), values.end()});
  }

  /// A symbol that is no parameter where it stands.
  Expr outside(Expr symbol, const Function* within) {
    return within != nullptr && is_replaced(symbol) ? as_parameter(symbol) : replaced(symbol);
  }

  /// The replaced symbols that a function's body reads, itself or through callees: it must be
  /// passed them.
  Symbols find_passed(const Function& function) {
    const Expr body = function.body();
    Symbols symbols;
    for (const Expr e : breadth_first({&body, 1})) {
      const bool reads = e->kind == ExprKind::kSymbol && !is_parameter(function, e);
      if (reads && is_replaced(e)) {
        symbols.push_back(e);
      }
      for (const Function* callee : {e->function, e->payload}) {
        if (callee != nullptr) {
          const Symbols& more = passed_.at(callee);
          symbols.insert(symbols.end(), more.begin(), more.end());
        }
      }
    }
    sort_unique(symbols);
    return symbols;
  }

  const Function* lifted(const Function& function, const Symbols& passed) {
    if (passed.empty() && &function.body().pool() == &target_) {
      return &function;
    }
    std::string name = function.name();
    for (const Expr symbol : passed) {
      name.append(".with.").append(symbol->symbol);
    }
    const auto known = lifted_.find(name);
    if (known != lifted_.end()) {
      return known->second;
    }
    std::vector<Expr> parameters;
    for (const Expr parameter : function.parameters()) {
      parameters.push_back(as_itself(parameter));
    }
    for (const Expr symbol : passed) {
      parameters.push_back(as_parameter(symbol));
    }
    const Expr body = copy(function.body(), &function);
    const Function& defined = target_.define(name, std::move(parameters), body);
    lifted_.emplace(std::move(name), &defined);
    return &defined;
  }

  Expr as_itself(Expr symbol) { return target_.symbol(symbol->symbol, symbol->dimension); }
  Expr as_parameter(Expr symbol) {
    return target_.symbol("with." + std::string(symbol->symbol), symbol->dimension);
  }

  bool is_replaced(Expr symbol) {
    const Expr now = replaced(symbol);
    return now->kind != ExprKind::kSymbol || now->symbol != symbol->symbol;
  }

  Expr replaced(Expr symbol) {
    const auto [entry, is_new] = replaced_.try_emplace(&symbol.node());
    if (is_new) {
      const Expr given = replacement_ ? replacement_(symbol.node()) : Expr();
      assert(!given || (given.dimension() == symbol.dimension() && &given.pool() == &target_));
      entry->second = given ? given : as_itself(symbol);
    }
    return entry->second;
  }

  ExprPool& target_;
  const Replacement& replacement_;
  std::unordered_map<const ExprNode*, Expr> replaced_;
  std::unordered_map<const Function*, Symbols> passed_;
  std::map<std::string, const Function*> lifted_;
};

}  // namespace

Expr substitute(Expr expression, ExprPool& target,
                const std::function<Expr(const ExprNode&)>& replacement) {
  return Substitution(target, replacement)(expression);
}

Expr import(Expr expression, ExprPool& target) {
  return substitute(expression, target, nullptr);
}

}  // namespace mansard::ir
