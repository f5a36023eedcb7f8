#include "ir/graph.hpp"

#include <algorithm>
#include <utility>

namespace mansard::ir {
namespace {

/// The value of a dimension that an op leaves to the kind's default, if it has one.
Expr default_of(const OpDef& def, std::string_view symbol, ExprPool& pool) {
  const auto found = std::ranges::find(def.dims, symbol, &DimDef::name);
  if (found == def.dims.end() || !found->otherwise) {
    return {};
  }
  return pool.constant(*found->otherwise);
}

}  // namespace

std::vector<OperandUse> uses_of(const Op& op) {
  std::vector<OperandUse> uses;
  uses.reserve(op.operands.size());
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (const std::optional<TensorId>& tensor = op.operands[i]) {
      uses.push_back({.position = i, .def = &op.def->operands[i], .tensor = *tensor});
    }
  }
  return uses;
}

BlockId Graph::add_block(std::string name, std::int64_t count) {
  blocks_.push_back({.name = std::move(name), .count = count});
  return static_cast<BlockId>(blocks_.size() - 1);
}

TensorId Graph::add_tensor(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors_.size() - 1);
}

OpId Graph::add_op(Op op) {
  ops_.push_back(std::move(op));
  return static_cast<OpId>(ops_.size() - 1);
}

Expr Graph::instantiate(const Op& op, Expr of_definition) const {
  if (!of_definition) {
    return {};
  }
  return substitute(of_definition, pool(), [&](const ExprNode& symbol) {
    const auto bound = op.dims.find(symbol.symbol);
    return bound != op.dims.end() ? bound->second : default_of(*op.def, symbol.symbol, pool());
  });
}

Expr Graph::repeats(BlockId id) const {
  const Block& of = block(id);
  return of.repeats ? of.repeats : pool().constant(static_cast<double>(of.count));
}

Expr Graph::elements(const Tensor& tensor) const {
  Expr product = pool().constant(1);
  for (const Expr extent : tensor.shape) {
    product = product * extent;
  }
  return product;
}

}  // namespace mansard::ir
