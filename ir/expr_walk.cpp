#include "ir/expr_walk.hpp"

#include <algorithm>
#include <cassert>
#include <unordered_set>

namespace mansard::ir {

namespace {

/// Which ids a walk has seen. Kept between walks, so that a small walk in a large pool costs the
/// small walk only.
class Marks {
 public:
  /// Forgets; ids below `ids` may then be marked.
  static void start(std::size_t ids) {
    if (++now() == 0) {
      std::ranges::fill(stamps(), 0);
      now() = 1;
    }
    if (stamps().size() < ids) {
      stamps().resize(ids, 0);
    }
  }
  /// Marks `id`; whether it was new.
  static bool add(std::uint32_t id) { return std::exchange(stamps()[id], now()) != now(); }

 private:
  static std::vector<std::uint32_t>& stamps() {
    thread_local std::vector<std::uint32_t> stamps;
    return stamps;
  }
  static std::uint32_t& now() {
    thread_local std::uint32_t now = 0;
    return now;
  }
};

void add_new(std::span<const Expr> candidates, std::vector<Expr>& nodes) {
  for (const Expr candidate : candidates) {
    if (Marks::add(candidate->id)) {
      nodes.push_back(candidate);
    }
  }
}

std::size_t ids_below(std::span<const Expr> roots) {
  std::size_t ids = 0;
  for (const Expr root : roots) {
    assert(&root.pool() == &roots[0].pool());
    ids = std::max<std::size_t>(ids, root->id + 1);
  }
  return ids;
}

}  // namespace

std::vector<Expr> breadth_first(std::span<const Expr> roots) {
  Marks::start(ids_below(roots));
  std::vector<Expr> nodes;
  add_new(roots, nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ExprNode& node = nodes[i].node();  // The pool's; `nodes` may grow.
    add_new(node.operands, nodes);
  }
  return nodes;
}

Dag::Dag(std::span<const Expr> roots) : nodes_(breadth_first(roots)) {
  std::ranges::sort(nodes_, {}, [](Expr e) { return e->id; });
  thread_local std::vector<std::uint32_t> places;  // By id; only those of `nodes_` are read.
  places.resize(std::max(places.size(), ids_below(roots)));
  starts_.reserve(nodes_.size());
  for (const Expr node : nodes_) {
    places[node->id] = static_cast<std::uint32_t>(starts_.size());
    starts_.push_back(static_cast<std::uint32_t>(operands_.size()));
    for (const Expr operand : node->operands) {
      operands_.push_back(places[operand->id]);
    }
  }
  for (const Expr root : roots) {
    roots_.push_back(places[root->id]);
  }
}

std::vector<const Function*> functions_of(std::span<const Expr> roots) {
  std::vector<const Function*> functions;
  std::vector<const Function*> unvisited;
  std::unordered_set<const Function*> seen;
  const auto add_callees = [&](std::span<const Expr> expressions) {
    for (const Expr e : breadth_first(expressions)) {
      for (const Function* callee : {e->function, e->payload}) {
        if (callee != nullptr && seen.insert(callee).second) {
          unvisited.push_back(callee);
        }
      }
    }
  };
  add_callees(roots);
  while (!unvisited.empty()) {
    functions.push_back(unvisited.back());
    unvisited.pop_back();
    const Expr body = functions.back()->body();
    add_callees({&body, 1});
  }
  // A caller's body stands above its call, which was built after the callee's body: its id is
  // greater.
  std::ranges::sort(functions, [](const Function* a, const Function* b) {
    return a->body()->id != b->body()->id ? a->body()->id < b->body()->id : a->name() < b->name();
  });
  return functions;
}

bool is_parameter(const Function& function, Expr symbol) {
  return std::ranges::find(function.parameters(), symbol) != function.parameters().end();
}

std::vector<Expr> symbols_of(std::span<const Expr> expressions) {
  std::vector<Expr> symbols;
  std::unordered_set<const ExprNode*> seen;
  const auto add_symbols = [&](std::span<const Expr> roots, const Function* within) {
    for (const Expr e : breadth_first(roots)) {
      const bool reads =
          e->kind == ExprKind::kSymbol && (within == nullptr || !is_parameter(*within, e));
      if (reads && seen.insert(&e.node()).second) {
        symbols.push_back(e);
      }
    }
  };
  add_symbols(expressions, nullptr);
  for (const Function* function : functions_of(expressions)) {
    const Expr body = function->body();
    add_symbols({&body, 1}, function);
  }
  std::ranges::sort(symbols, {}, [](Expr e) { return e->symbol; });
  return symbols;
}

std::vector<Expr> symbols_of(Expr expression) {
  return symbols_of({&expression, 1});
}

}  // namespace mansard::ir
