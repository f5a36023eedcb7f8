#include "model/program/lower.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "ir/expr_walk.hpp"

namespace mansard::model {
namespace {

using ir::Expr;
using ir::ExprKind;

/// A function of more nodes than this is kept whole if it reads its parameters only.
constexpr std::size_t kInlineNodes = 64;

bool is_closed(const ir::Function& function) {
  const Expr body = function.body();
  const ir::Dag dag({&body, 1});
  return std::ranges::all_of(dag.nodes(), [&](Expr e) {
    return e->kind != ExprKind::kCall && e->kind != ExprKind::kReduce &&
           (e->kind != ExprKind::kSymbol || ir::is_parameter(function, e));
  });
}

bool is_kept_whole(const ir::Function& function) {
  const Expr body = function.body();
  return ir::Dag({&body, 1}).nodes().size() > kInlineNodes && is_closed(function);
}

ProgramFunction lower_function(const ir::Function& function) {
  ProgramFunction result{.name = function.name(), .parameters = function.parameters().size()};
  const Expr body = function.body();
  const ir::Dag dag({&body, 1});
  for (std::size_t place = 0; place < dag.nodes().size(); ++place) {
    const Expr e = dag.nodes()[place];
    ProgramNode node{.kind = e->kind, .level = Level::kPoint, .constant = e->constant};
    const auto operands = dag.operands(place);
    node.a = !operands.empty() ? operands[0] : kNoNode;
    node.b = operands.size() > 1 ? operands[1] : kNoNode;
    node.c = operands.size() > 2 ? operands[2] : kNoNode;
    if (e->kind == ExprKind::kSymbol) {
      node.a = static_cast<NodeId>(std::ranges::find(function.parameters(), e) -
                                   function.parameters().begin());
    }
    result.nodes.push_back(node);
  }
  result.result = dag.roots()[0];
  return result;
}

/// Lowers roots into a program: functions inlined, equal nodes shared.
class Lowering {
 public:
  explicit Lowering(Program& program) : program_(program) {}

  void lower(std::span<const Expr> roots) {
    const Environment nothing;
    program_.roots = lower_all(roots, nothing);
  }

 private:
  using Environment = std::unordered_map<const ir::ExprNode*, NodeId>;  // Parameters.
  using NodeKey = std::tuple<ExprKind, NodeId, NodeId, NodeId, std::uint64_t, LoopId>;
  using LoopKey = std::tuple<ir::Reduction, const ir::Table*, const ir::Function*,
                             const ir::Function*, std::vector<NodeId>>;

  std::vector<NodeId> lower_all(std::span<const Expr> roots, const Environment& environment) {
    const ir::Dag dag(roots);
    std::vector<NodeId> at(dag.nodes().size());
    for (std::size_t place = 0; place < at.size(); ++place) {
      std::vector<NodeId> operands;
      for (const std::uint32_t operand : dag.operands(place)) {
        operands.push_back(at[operand]);
      }
      at[place] = lower_node(dag.nodes()[place], operands, environment);
    }
    std::vector<NodeId> results;
    for (const std::uint32_t root : dag.roots()) {
      results.push_back(at[root]);
    }
    return results;
  }

  NodeId lower_node(Expr e, const std::vector<NodeId>& operands, const Environment& environment) {
    switch (e->kind) {
      case ExprKind::kConstant:
        return intern({.kind = e->kind, .constant = e->constant});
      case ExprKind::kSymbol:
        return symbol(e, environment);
      case ExprKind::kCall:
        return call(*e->function, operands);
      case ExprKind::kReduce:
        return reduce(e, operands);
      default:
        return operation(e->kind, operands);
    }
  }

  NodeId symbol(Expr e, const Environment& environment) {
    const auto bound = environment.find(&e.node());
    if (bound != environment.end()) {
      return bound->second;
    }
    const auto [found, added] =
        symbols_.emplace(&e.node(), static_cast<NodeId>(program_.fixed_symbols.size()));
    if (added) {
      program_.fixed_symbols.emplace_back(e->symbol);
    }
    return intern({.kind = ExprKind::kSymbol, .a = found->second});
  }

  NodeId operation(ExprKind kind, const std::vector<NodeId>& operands) {
    return intern({.kind = kind,
                   .a = operands[0],
                   .b = operands.size() > 1 ? operands[1] : kNoNode,
                   .c = operands.size() > 2 ? operands[2] : kNoNode});
  }

  NodeId call(const ir::Function& function, const std::vector<NodeId>& arguments) {
    const auto [kept, is_new] = whole_.emplace(&function, kNoNode);
    if (is_new && is_kept_whole(function)) {
      kept->second = static_cast<NodeId>(program_.functions.size());
      program_.functions.push_back(lower_function(function));
    }
    if (kept->second == kNoNode) {
      return inlined(function, arguments);
    }
    const auto [found, added] = calls_.emplace(std::pair(kept->second, arguments), kNoNode);
    if (added) {
      const auto first = static_cast<NodeId>(program_.arguments.size());
      program_.arguments.insert(program_.arguments.end(), arguments.begin(), arguments.end());
      found->second = add({.kind = ExprKind::kCall, .a = kept->second, .b = first});
    }
    return found->second;
  }

  NodeId inlined(const ir::Function& function, std::span<const NodeId> arguments) {
    Environment environment;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      environment[&function.parameters()[i].node()] = arguments[i];
    }
    const Expr body = function.body();
    return lower_all({&body, 1}, environment)[0];
  }

  NodeId reduce(Expr e, const std::vector<NodeId>& arguments) {
    const LoopKey key{e->reduction, e->table, e->function, e->payload, arguments};
    if (const auto found = reductions_.find(key); found != reductions_.end()) {
      return found->second;
    }
    const auto loop = static_cast<LoopId>(program_.loops.size());
    program_.loops.push_back(
        {.kind = e->reduction, .rows = e->table->rows(), .columns = e->table->columns().size()});
    for (std::size_t row = 0; row < e->table->rows(); ++row) {
      const auto values = e->table->row(row);
      auto& table = program_.loops[loop].table;
      table.insert(table.end(), values.begin(), values.end());
    }
    std::vector<NodeId> parameters;
    for (NodeId column = 0; column < e->table->columns().size(); ++column) {
      parameters.push_back(intern({.kind = ExprKind::kSymbol, .loop = loop, .a = column}));
    }
    parameters.insert(parameters.end(), arguments.begin(), arguments.end());
    const NodeId key_node = inlined(*e->function, parameters);
    const NodeId payload = e->payload != nullptr ? inlined(*e->payload, parameters) : kNoNode;
    program_.loops[loop].key = key_node;
    program_.loops[loop].payload = payload;
    const NodeId result = add({.kind = ExprKind::kReduce, .a = loop});
    program_.loops[loop].result = result;
    reductions_.emplace(key, result);
    return result;
  }

  NodeId add(const ProgramNode& node) {
    program_.nodes.push_back(node);
    return static_cast<NodeId>(program_.nodes.size() - 1);
  }

  NodeId intern(const ProgramNode& node) {
    const NodeKey key{
        node.kind, node.a, node.b, node.c, std::bit_cast<std::uint64_t>(node.constant), node.loop};
    const auto [found, added] = nodes_.emplace(key, kNoNode);
    if (added) {
      found->second = add(node);
    }
    return found->second;
  }

  Program& program_;
  std::unordered_map<const ir::ExprNode*, NodeId> symbols_;
  std::map<NodeKey, NodeId> nodes_;
  std::unordered_map<const ir::Function*, NodeId> whole_;
  std::map<std::pair<NodeId, std::vector<NodeId>>, NodeId> calls_;
  std::map<LoopKey, NodeId> reductions_;
};

}  // namespace

void lower(std::span<const ir::Expr> roots, Program& program) {
  Lowering(program).lower(roots);
}

}  // namespace mansard::model
