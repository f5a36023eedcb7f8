#include "frontend/onnx/shape.hpp"

namespace mansard::frontend::onnx {

Expr elements(ir::ExprPool& pool, std::span<const Expr> shape) {
  Expr result = pool.constant(1);
  for (const Expr extent : shape) {
    result = result * extent;
  }
  return canonical(result);
}

std::optional<Expr> broadcast(Expr a, Expr b) {
  if (a == b || is_number(b, 1)) {
    return a;
  }
  if (is_number(a, 1)) {
    return b;
  }
  if (a.is_constant() && b.is_constant()) {
    return std::nullopt;
  }
  return a.is_constant() ? a : b.is_constant() ? b : a;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    Expr& extent = result[result.size() - 1 - i];
    const auto both = broadcast(extent, shorter[shorter.size() - 1 - i]);
    if (!both) {
      return std::nullopt;
    }
    extent = *both;
  }
  return result;
}

}  // namespace mansard::frontend::onnx
