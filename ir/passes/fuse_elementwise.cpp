#include <algorithm>
#include <utility>

#include "ir/passes/elementwise.hpp"
#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"

namespace mansard::ir {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool touches(const Op& op, TensorId tensor) {
  return reads(op, tensor) || writes(op, tensor);
}

bool ends_with(const std::string& name, std::string_view suffix) {
  return std::string_view(name).ends_with(suffix);
}

/// Merges pairs of ops in place; `dead_` marks those that were absorbed.
class Fuser {
 public:
  explicit Fuser(Graph& graph) : graph_(graph), dead_(graph.ops().size()) {}

  void run() {
    for (std::size_t i = 0; i < ops().size(); ++i) {
      fuse_residual(i);
      fuse_gate(i);
    }
    std::vector<Op> kept;
    for (std::size_t i = 0; i < ops().size(); ++i) {
      if (!dead_[i]) {
        kept.push_back(std::move(ops()[i]));
      }
    }
    ops() = std::move(kept);
  }

 private:
  [[nodiscard]] std::vector<Op>& ops() { return graph_.ops(); }

  /// The next op that touches a tensor, if it is of the same block.
  std::size_t next_touching(std::size_t from, TensorId tensor) {
    for (std::size_t i = from + 1; i < ops().size(); ++i) {
      if (!dead_[i] && touches(ops()[i], tensor)) {
        return ops()[i].block == ops()[from].block ? i : kNone;
      }
    }
    return kNone;
  }

  std::size_t uses_of(TensorId tensor) {
    std::size_t uses = 0;
    for (std::size_t i = 0; i < ops().size(); ++i) {
      uses += !dead_[i] && touches(ops()[i], tensor) ? 1 : 0;
    }
    return uses;
  }

  bool written_between(std::size_t first, std::size_t last, TensorId tensor) {
    for (std::size_t i = first + 1; i < last; ++i) {
      if (!dead_[i] && writes(ops()[i], tensor)) {
        return true;
      }
    }
    return false;
  }

  /// o = x + y, then norm(o): the norm adds instead. The sum must be in place, or be made from a
  /// tensor that nothing uses any more, which then takes its place.
  void fuse_residual(std::size_t i) {
    const Op& add = ops()[i];
    if (!is_kind(add, "elementwise") || attribute_of(add, "function") != "add" ||
        !operand_of(add, "y")) {
      return;
    }
    const TensorId sum = tensor_of(add, "o");
    const std::size_t n = next_touching(i, sum);
    if (n == kNone || !can_add(ops()[n], sum)) {
      return;
    }
    const TensorId x = tensor_of(add, "x");
    const TensorId y = tensor_of(add, "y");
    if (becomes_residual(i, n, y, sum) && !written_between(i, n, x)) {
      absorb_residual(i, n, x, y);
    } else if (becomes_residual(i, n, x, sum) && !written_between(i, n, y)) {
      absorb_residual(i, n, y, x);
    }
  }

  [[nodiscard]] static bool can_add(const Op& op, TensorId sum) {
    return is_kind(op, "norm") && operand_of(op, "x") == sum && !operand_of(op, "residual") &&
           operand_of(op, "o") != sum;
  }

  /// Whether `tensor` may stand for the residual stream that add `i` and norm `n` update.
  bool becomes_residual(std::size_t i, std::size_t n, TensorId tensor, TensorId sum) {
    if (tensor == sum) {
      return true;
    }
    if (graph_.tensor(tensor).role != Role::kActivation ||
        graph_.tensor(tensor).dtype != graph_.tensor(sum).dtype) {
      return false;
    }
    for (std::size_t later = i + 1; later < ops().size(); ++later) {
      if (!dead_[later] && later != n && touches(ops()[later], tensor)) {
        return false;
      }
    }
    // What a repeated block reads at its start, before this op, would no longer be what it was.
    return graph_.block(ops()[i].block).count == 1;
  }

  void absorb_residual(std::size_t i, std::size_t n, TensorId x, TensorId residual) {
    const TensorId sum = tensor_of(ops()[i], "o");
    Op& norm = ops()[n];
    set_operand(norm, "x", x);
    set_operand(norm, "residual", residual);
    norm.dims.insert_or_assign("residual", graph_.pool().constant(1));
    dead_[i] = true;
    for (std::size_t later = n + 1; later < ops().size(); ++later) {
      std::ranges::replace(ops()[later].operands, std::optional(sum), std::optional(residual));
    }
  }

  /// t = f(x), then o = t * y, with t used nowhere else.
  void fuse_gate(std::size_t i) {
    const Op& activation = ops()[i];
    if (dead_[i] || !is_kind(activation, "elementwise") || operand_of(activation, "y") ||
        dim_of(graph_, activation, "i") != dim_of(graph_, activation, "n")) {
      return;
    }
    const TensorId middle = tensor_of(activation, "o");
    const TensorId x = tensor_of(activation, "x");
    const std::size_t n = next_touching(i, middle);
    if (n != kNone && is_product_with(ops()[n], middle) && uses_of(middle) == 2 &&
        !written_between(i, n, x)) {
      absorb_activation(i, n);
    }
  }

  [[nodiscard]] static bool is_product_with(const Op& op, TensorId factor) {
    return is_kind(op, "elementwise") && attribute_of(op, "function") == "mul" &&
           operand_of(op, "y") &&
           (operand_of(op, "x") == factor) != (operand_of(op, "y") == factor);
  }

  void absorb_activation(std::size_t i, std::size_t n) {
    const Op& activation = ops()[i];
    Op& product = ops()[n];
    const TensorId middle = tensor_of(activation, "o");
    const TensorId gate = tensor_of(activation, "x");
    const TensorId up =
        operand_of(product, "x") == middle ? tensor_of(product, "y") : tensor_of(product, "x");
    set_operand(product, "x", gate);
    set_operand(product, "y", up == gate ? std::nullopt : std::optional(up));
    product.dims.insert_or_assign("a", dim_of(graph_, activation, "a") + 1);
    product.dims.insert_or_assign("s", dim_of(graph_, activation, "s"));
    product.attributes = activation.attributes;
    if (ends_with(product.name, kGateSuffix)) {
      product.name.resize(product.name.size() - kGateSuffix.size());
    }
    dead_[i] = true;
  }

  Graph& graph_;
  std::vector<bool> dead_;
};

}  // namespace

Graph fuse_elementwise(Graph graph) {
  Fuser(graph).run();
  return graph;
}

}  // namespace mansard::ir
