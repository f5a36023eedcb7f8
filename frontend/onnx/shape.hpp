#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/expr.hpp"
#include "ir/polynomial.hpp"

/// Shapes whose extents may be symbols.
namespace mansard::frontend::onnx {

using ir::Expr;
using Shape = std::vector<Expr>;

using ir::canonical;
using ir::difference;
using ir::product;
using ir::quotient;
using ir::sum;

/// Product of the extents [begin, end) of a shape; 1 of none.
[[nodiscard]] Expr elements(ir::ExprPool& pool, std::span<const Expr> shape);

/// The extent that two broadcast to. Two unlike symbols are taken to be equal, as the graph would
/// fail otherwise. Absent: two unlike constants, neither 1.
[[nodiscard]] std::optional<Expr> broadcast(Expr a, Expr b);
[[nodiscard]] std::optional<Shape> broadcast(const Shape& a, const Shape& b);

[[nodiscard]] inline bool is_number(Expr e, double value) {
  return e && e.is_constant() && e.constant() == value;
}

}  // namespace mansard::frontend::onnx
