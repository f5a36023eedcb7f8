#include "ir/expr.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <deque>
#include <map>
#include <ranges>
#include <unordered_set>

#include "ir/expr_rules.hpp"

namespace mansard::ir {

namespace {

void mix(std::size_t& seed, std::size_t value) {
  constexpr std::size_t golden_ratio = 0x9E3779B97F4A7C15U;
  seed = std::rotl(seed ^ value, 27) * golden_ratio;
}

std::size_t hash_dimension(const Dimension& d) {
  std::size_t seed = 0;
  for (const int exponent : {d.flop, d.byte, d.second, d.joule, d.instruction, d.cycle, d.usd}) {
    seed = seed * 31 + static_cast<std::size_t>(exponent);
  }
  return seed;
}

/// The operands' ids, of a commutative pair the smaller first: what makes a + b and b + a one node.
std::pair<std::uint32_t, std::uint32_t> ordered_pair(const ExprNode& node) {
  return std::minmax({node.operands[0]->id, node.operands[1]->id});
}

struct NodeHash {
  std::size_t operator()(const ExprNode* node) const {
    auto seed = static_cast<std::size_t>(node->kind);
    mix(seed, std::bit_cast<std::uint64_t>(node->constant));
    mix(seed, hash_dimension(node->dimension));
    if (is_commutative(node->kind)) {
      const auto [first, second] = ordered_pair(*node);
      mix(seed, first);
      mix(seed, second);
      return seed;
    }
    for (const Expr operand : node->operands) {
      mix(seed, operand->id);
    }
    return seed;
  }
};

struct NodeEqual {
  bool operator()(const ExprNode* a, const ExprNode* b) const {
    if (a->kind != b->kind || a->dimension != b->dimension) {
      return false;
    }
    if (is_commutative(a->kind)) {
      return ordered_pair(*a) == ordered_pair(*b);
    }
    return std::bit_cast<std::uint64_t>(a->constant) == std::bit_cast<std::uint64_t>(b->constant) &&
           a->reduction == b->reduction && a->function == b->function && a->payload == b->payload &&
           a->table == b->table && a->operands == b->operands;
  }
};

[[maybe_unused]] bool takes(std::span<const Expr> parameters, std::span<const Expr> arguments) {
  return std::ranges::equal(parameters, arguments, [](Expr parameter, Expr argument) {
    return parameter.dimension() == argument.dimension();
  });
}

[[maybe_unused]] bool reduces(const Function& function, const Table& table,
                              std::span<const Expr> arguments) {
  const auto columns = table.columns().size();
  return function.parameters().size() == columns + arguments.size() &&
         takes(function.parameters().subspan(columns), arguments);
}

[[maybe_unused]] bool are_distinct_symbols(std::vector<Expr> parameters) {
  std::ranges::sort(parameters, {}, [](Expr e) { return e->id; });
  return std::ranges::all_of(parameters, [](Expr e) { return e->kind == ExprKind::kSymbol; }) &&
         std::ranges::adjacent_find(parameters) == parameters.end();
}

/// A constant stands first in a product and last in a sum: "2 * m", "m + 1".
void order_constant(ExprKind kind, std::vector<Expr>& operands) {
  const bool first = operands[0].is_constant();
  const bool second = operands[1].is_constant();
  if (first != second && (kind == ExprKind::kMul ? second : first)) {
    std::swap(operands[0], operands[1]);
  }
}

}  // namespace

const Dimension& Expr::dimension() const {
  return node_->dimension;
}
ExprPool& Expr::pool() const {
  return *node_->pool;
}
bool Expr::is_constant() const {
  return node_->kind == ExprKind::kConstant;
}
double Expr::constant() const {
  assert(is_constant());
  return node_->constant;
}

struct ExprPool::Impl {
  std::deque<ExprNode> nodes;  // Addresses never move.
  std::unordered_set<const ExprNode*, NodeHash, NodeEqual> interned;
  std::map<std::string, Expr, std::less<>> symbols;
  std::map<std::string, Function, std::less<>> functions;
  std::map<std::string, Table, std::less<>> tables;

  Expr append(ExprNode node) {
    node.id = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back(std::move(node));
    return Expr(&nodes.back());
  }

  Expr intern(ExprNode node) {
    if (const auto found = interned.find(&node); found != interned.end()) {
      return Expr(*found);
    }
    const Expr added = append(std::move(node));
    interned.insert(&added.node());
    return added;
  }
};

ExprPool::ExprPool() : impl_(std::make_unique<Impl>()) {}
ExprPool::~ExprPool() = default;

Expr ExprPool::constant(double value, const Dimension& dimension) {
  ExprNode node;
  node.kind = ExprKind::kConstant;
  node.dimension = dimension;
  node.constant = value == 0 ? 0 : value;  // One zero, not two.
  node.pool = this;
  return impl_->intern(std::move(node));
}

Expr ExprPool::symbol(std::string_view name, const Dimension& dimension) {
  if (const Expr known = find_symbol(name)) {
    assert(known.dimension() == dimension && "a symbol has one dimension in a pool");
    return known;
  }
  const auto entry = impl_->symbols.emplace(name, Expr()).first;
  ExprNode node;
  node.kind = ExprKind::kSymbol;
  node.dimension = dimension;
  node.symbol = entry->first;
  node.pool = this;
  entry->second = impl_->append(std::move(node));
  return entry->second;
}

Expr ExprPool::find_symbol(std::string_view name) const {
  const auto found = impl_->symbols.find(name);
  return found == impl_->symbols.end() ? Expr() : found->second;
}

const Function& ExprPool::define(std::string name, std::vector<Expr> parameters, Expr body) {
  assert(body && &body.pool() == this && are_distinct_symbols(parameters));
  const auto found = impl_->functions.find(name);
  if (found != impl_->functions.end()) {
    assert(std::ranges::equal(found->second.parameters(), parameters) &&
           found->second.body() == body && "a function has one definition in a pool");
    return found->second;
  }
  Function function(name, std::move(parameters), body);
  return impl_->functions.emplace(std::move(name), std::move(function)).first->second;
}

const Function* ExprPool::find_function(std::string_view name) const {
  const auto found = impl_->functions.find(name);
  return found == impl_->functions.end() ? nullptr : &found->second;
}

std::vector<std::string> ExprPool::function_names() const {
  const auto names = std::views::keys(impl_->functions);
  return {names.begin(), names.end()};
}

const Table& ExprPool::add_table(std::string name, std::vector<std::string> columns,
                                 std::vector<double> values) {
  assert(!columns.empty() && !values.empty() && values.size() % columns.size() == 0);
  const auto found = impl_->tables.find(name);
  if (found != impl_->tables.end()) {
    assert(std::ranges::equal(found->second.columns(), columns) &&
           found->second.rows() * columns.size() == values.size() &&
           std::ranges::equal(std::span(found->second.row(0).data(), values.size()), values) &&
           "a table has one content in a pool");
    return found->second;
  }
  Table table(name, std::move(columns), std::move(values));
  return impl_->tables.emplace(std::move(name), std::move(table)).first->second;
}

const Table* ExprPool::find_table(std::string_view name) const {
  const auto found = impl_->tables.find(name);
  return found == impl_->tables.end() ? nullptr : &found->second;
}

std::size_t ExprPool::size() const {
  return impl_->nodes.size();
}

Expr ExprPool::make(ExprKind kind, std::vector<Expr> operands) {
  assert(operands.size() == arity(kind) && arity(kind) > 0);
  assert(std::ranges::all_of(operands, [&](Expr e) { return e && &e.pool() == this; }) &&
         "expressions of different pools do not mix");
  assert(!misuse(kind, operands) && "operands of unlike dimensions");
  if (is_commutative(kind)) {
    order_constant(kind, operands);
  }
  if (const Expr simpler = simplify(*this, kind, operands)) {
    return simpler;
  }
  ExprNode node;
  node.kind = kind;
  node.dimension = dimension_of(kind, operands);
  node.operands = std::move(operands);
  node.pool = this;
  return impl_->intern(std::move(node));
}

Expr ExprPool::call(const Function& function, std::vector<Expr> arguments) {
  assert(&function.body().pool() == this && takes(function.parameters(), arguments));
  ExprNode node;
  node.kind = ExprKind::kCall;
  node.dimension = function.body().dimension();
  node.function = &function;
  node.operands = std::move(arguments);
  node.pool = this;
  return impl_->intern(std::move(node));
}

Expr ExprPool::reduce(Reduction reduction, const Table& table, const Function& key,
                      std::vector<Expr> arguments, const Function* payload) {
  assert(find_table(table.name()) == &table && "a table of this pool");
  assert(&key.body().pool() == this && reduces(key, table, arguments));
  assert((payload != nullptr) == (reduction == Reduction::kAtMin));
  assert(payload == nullptr || reduces(*payload, table, arguments));
  ExprNode node;
  node.kind = ExprKind::kReduce;
  node.reduction = reduction;
  node.dimension = (payload != nullptr ? payload : &key)->body().dimension();
  node.function = &key;
  node.payload = payload;
  node.table = &table;
  node.operands = std::move(arguments);
  node.pool = this;
  return impl_->intern(std::move(node));
}

}  // namespace mansard::ir
