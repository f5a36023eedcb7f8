#include <algorithm>
#include <cassert>
#include <optional>

#include "ir/expr_eval.hpp"
#include "ir/graph.hpp"

namespace mansard::ir {
namespace {

std::int64_t exact(Expr expression, const Bindings& bindings = {}) {
  const Result<Count> counted = count(expression, bindings);
  assert(counted.has_value());
  return counted ? static_cast<std::int64_t>(*counted) : 0;
}

/// How ops use one tensor.
struct Uses {
  std::optional<std::int64_t> active;  ///< Elements that one token uses, where ops use a part.
  bool whole = false;                  ///< Some op uses all of it.
  bool input_embedding = false;
};

/// A table that tokens index; others (positions) are like any weight. Importers may say which by
/// the attribute "index": "token" or "position".
bool is_token_table(const Graph& graph, const Op& op) {
  if (op.def->name != "embedding") {
    return false;
  }
  if (const auto index = op.attributes.find("index"); index != op.attributes.end()) {
    return index->second == "token";
  }
  const Expr rows = op.dims.find("n")->second;
  const auto vocabulary = static_cast<double>(graph.facts.vocabulary);
  return vocabulary == 0 || (rows.is_constant() && rows.constant() == vocabulary);
}

void note_use(const Graph& graph, const Op& op, const OperandDef& operand, Uses& uses) {
  if (operand.touched_least) {
    const Bindings one_token = {{"batch", 1}, {"q_len", 1}, {"context", 1}};
    const std::int64_t elements = exact(graph.instantiate(op, operand.touched_least), one_token);
    uses.active = std::max(uses.active.value_or(0), elements);
  } else if (is_token_table(graph, op)) {
    uses.input_embedding = true;
  } else {
    uses.whole = true;
  }
}

std::vector<Uses> uses_of_tensors(const Graph& graph) {
  std::vector<Uses> uses(graph.tensors().size());
  for (const Op& op : graph.ops()) {
    for (const OperandUse& use : uses_of(op)) {
      if (graph.tensor(use.tensor).role == Role::kWeight) {
        note_use(graph, op, *use.def, uses[index(use.tensor)]);
      }
    }
  }
  return uses;
}

template <typename Belongs>
Expr sum_bytes(const Graph& graph, Belongs belongs) {
  Expr sum = graph.pool().constant(0, kByte);
  for (const Tensor& tensor : graph.tensors()) {
    if (belongs(tensor)) {
      const auto copies = static_cast<double>(graph.block(tensor.block).count);
      sum = sum + copies * bytes_of(*tensor.dtype, graph.elements(tensor));
    }
  }
  return sum;
}

}  // namespace

ParameterCounts parameter_counts(const Graph& graph) {
  const std::vector<Uses> uses = uses_of_tensors(graph);
  ParameterCounts counts;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    if (tensor.role != Role::kWeight || tensor.buffer) {
      continue;
    }
    const std::int64_t copies = graph.block(tensor.block).count;
    const std::int64_t elements = exact(graph.elements(tensor));
    const std::int64_t active = uses[i].whole ? elements : uses[i].active.value_or(elements);
    const bool only_looked_up = uses[i].input_embedding && !uses[i].whole;
    counts.total += copies * elements;
    counts.active += copies * active;
    counts.active_without_embedding += only_looked_up ? 0 : copies * active;
  }
  return counts;
}

Expr weight_bytes(const Graph& graph) {
  return sum_bytes(graph, [](const Tensor& tensor) { return tensor.role == Role::kWeight; });
}

Expr kv_bytes(const Graph& graph) {
  return sum_bytes(graph, [](const Tensor& tensor) {
    return tensor.role == Role::kKvCache || tensor.role == Role::kState;
  });
}

Expr kv_bytes_per_token(const Graph& graph) {
  ExprPool& pool = graph.pool();
  const Expr context = pool.symbol("context");
  const Expr cache =
      sum_bytes(graph, [](const Tensor& tensor) { return tensor.role == Role::kKvCache; });
  const auto at = [&](Expr position) {
    return substitute(cache, pool, [&](const ExprNode& symbol) {
      const bool one = symbol.symbol == "batch" || symbol.symbol == "q_len";
      if (one) {
        return pool.constant(1);
      }
      return symbol.symbol == "context" ? position : Expr();
    });
  };
  return at(context) - at(context - 1);
}

}  // namespace mansard::ir
