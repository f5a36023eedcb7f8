#include "ir/passes/rewrite.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "ir/expr_eval.hpp"

namespace mansard::ir {
namespace {

/// `dimension` / `parts` where a constant factor of it is a multiple of `parts`.
Expr divided_exactly(Expr dimension, double parts) {
  if (dimension.is_constant()) {
    const double quotient = dimension.constant() / parts;
    return std::floor(quotient) == quotient ? dimension.pool().constant(quotient) : Expr();
  }
  if (dimension->kind == ExprKind::kMul) {
    const Expr left = dimension->operands[0];
    const Expr right = dimension->operands[1];
    if (const Expr part = divided_exactly(left, parts)) {
      return part * right;
    }
    const Expr part = divided_exactly(right, parts);
    return part ? left * part : Expr();
  }
  if (dimension->kind == ExprKind::kAdd) {
    const Expr left = divided_exactly(dimension->operands[0], parts);
    const Expr right = divided_exactly(dimension->operands[1], parts);
    return left && right ? left + right : Expr();
  }
  return {};
}

std::size_t operand_index(const OpDef& def, std::string_view name) {
  const auto found = std::ranges::find(def.operands, name, &OperandDef::name);
  return static_cast<std::size_t>(found - def.operands.begin());
}

}  // namespace

double coefficient(Expr dimension) {
  if (dimension.is_constant()) {
    return dimension.constant();
  }
  return value(dimension, {{"batch", 1}, {"q_len", 1}, {"context", 1}});
}

Expr divided(Expr dimension, double parts) {
  if (parts == 1) {
    return dimension;
  }
  const Expr exact = divided_exactly(dimension, parts);
  return exact ? exact : ceil_div(dimension, parts);
}

Expr resized(Expr dimension, double from, double to) {
  if (from == to) {
    return dimension;
  }
  const double parts = from / to;
  if (std::floor(parts) == parts) {
    return divided(dimension, parts);
  }
  const Expr unit = divided_exactly(dimension, from);
  return unit ? unit * to : ceil_div(dimension * to, from);
}

Expr with_symbol(Expr expression, ExprPool& pool, std::string_view symbol, Expr by) {
  return substitute(expression, pool,
                    [&](const ExprNode& node) { return node.symbol == symbol ? by : Expr(); });
}

void substitute_symbol(Graph& graph, std::string_view symbol, Expr by) {
  for (Op& op : graph.ops()) {
    for (auto& [name, dimension] : op.dims) {
      dimension = with_symbol(dimension, graph.pool(), symbol, by);
    }
  }
  for (Tensor& tensor : graph.tensors()) {
    for (Expr& extent : tensor.shape) {
      extent = with_symbol(extent, graph.pool(), symbol, by);
    }
  }
}

bool depends_on(Expr expression, std::string_view symbol) {
  return std::ranges::any_of(symbols_of(expression),
                             [&](Expr found) { return found->symbol == symbol; });
}

Expr dim_of(const Graph& graph, const Op& op, std::string_view name) {
  if (const auto bound = op.dims.find(name); bound != op.dims.end()) {
    return bound->second;
  }
  const auto def = std::ranges::find(op.def->dims, name, &DimDef::name);
  return graph.pool().constant(def->otherwise.value_or(0));
}

std::optional<TensorId> operand_of(const Op& op, std::string_view name) {
  const std::size_t i = operand_index(*op.def, name);
  return i < op.operands.size() ? op.operands[i] : std::nullopt;
}

TensorId tensor_of(const Op& op, std::string_view name) {
  const std::optional<TensorId> tensor = operand_of(op, name);
  assert(tensor.has_value());
  return tensor.value_or(TensorId{});
}

void set_operand(Op& op, std::string_view name, std::optional<TensorId> tensor) {
  op.operands.resize(op.def->operands.size());
  op.operands[operand_index(*op.def, name)] = tensor;
}

std::string_view attribute_of(const Op& op, std::string_view name) {
  const auto found = op.attributes.find(name);
  return found == op.attributes.end() ? std::string_view() : std::string_view(found->second);
}

std::vector<std::optional<TensorId>> operands_by_name(
    const OpDef& def,
    const std::vector<std::pair<std::string_view, std::optional<TensorId>>>& operands) {
  std::vector<std::optional<TensorId>> result(def.operands.size());
  for (const auto& [name, tensor] : operands) {
    result[operand_index(def, name)] = tensor;
  }
  return result;
}

bool is_kind(const Op& op, std::string_view kind) {
  return op.def->name == kind;
}

bool reads(const Op& op, TensorId tensor) {
  return std::ranges::any_of(
      uses_of(op), [&](const OperandUse& use) { return use.tensor == tensor && use.reads(); });
}

bool writes(const Op& op, TensorId tensor) {
  return std::ranges::any_of(
      uses_of(op), [&](const OperandUse& use) { return use.tensor == tensor && use.writes(); });
}

void note(Graph& graph, std::string sentence) {
  std::vector<std::string>& notes = graph.facts.notes;
  if (std::ranges::find(notes, sentence) == notes.end()) {
    notes.push_back(std::move(sentence));
  }
}

}  // namespace mansard::ir
