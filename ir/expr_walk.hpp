#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/expr.hpp"

/// Walks over expression DAGs, none of which recurses, so that the depth of an expression costs no
/// stack.
namespace mansard::ir {

/// Every node that `roots` reach, in the order in which a breadth-first walk meets them: an order
/// that depends on the expressions only, not on which was built first. Does not enter function
/// bodies. All roots are of one pool.
[[nodiscard]] std::vector<Expr> breadth_first(std::span<const Expr> roots);

/// The nodes that `roots` reach, each with a place: operands before their users (ascending ids).
class Dag {
 public:
  explicit Dag(std::span<const Expr> roots);

  [[nodiscard]] std::span<const Expr> nodes() const { return nodes_; }
  /// The places of the operands of the node at `place`, in their order.
  [[nodiscard]] std::span<const std::uint32_t> operands(std::size_t place) const {
    return std::span(operands_).subspan(starts_[place], nodes_[place]->operands.size());
  }
  /// The places of the roots, in their order.
  [[nodiscard]] std::span<const std::uint32_t> roots() const { return roots_; }

 private:
  std::vector<Expr> nodes_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> operands_;
  std::vector<std::uint32_t> roots_;
};

/// Every function that `roots` call or reduce with, through other functions too, callees before
/// their callers.
[[nodiscard]] std::vector<const Function*> functions_of(std::span<const Expr> roots);

/// Whether `symbol` is a parameter of `function`.
[[nodiscard]] bool is_parameter(const Function& function, Expr symbol);

}  // namespace mansard::ir
