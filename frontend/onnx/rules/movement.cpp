#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

void transpose(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  std::vector<std::int64_t> order = node.list("perm");
  const std::size_t rank = node.rank(0);
  if (order.empty()) {
    for (std::size_t i = rank; i-- > 0;) {
      order.push_back(static_cast<std::int64_t>(i));
    }
  }
  std::vector<std::int64_t> sorted = order;
  std::ranges::sort(sorted);
  bool permutes = sorted.size() == rank;
  for (std::size_t i = 0; permutes && i < rank; ++i) {
    permutes = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!permutes) {
    node.error("onnx-attribute",
               fmt::format("perm [{}] of a tensor of rank {}", fmt::join(order, ", "), rank));
    return;
  }
  Shape shape;
  for (const std::int64_t axis : order) {
    shape.push_back(node.shape(0)[static_cast<std::size_t>(axis)]);
  }
  // Moving extents of 1 moves nothing.
  std::vector<std::int64_t> real;
  for (const std::int64_t axis : order) {
    if (!is_number(node.shape(0)[static_cast<std::size_t>(axis)], 1)) {
      real.push_back(axis);
    }
  }
  if (std::ranges::is_sorted(real)) {
    node.view(0, 0, std::move(shape));
    return;
  }
  node.emit_move({node.id(0)}, node.set(0, node.in(0).type, std::move(shape)));
}

/// Same shape, other places.
void same_shape(Node& node) {
  if (needs_inputs(node, 1)) {
    node.emit_move(present_inputs(node), node.set(0, node.in(0).type, node.shape(0)));
  }
}

constexpr std::array kRules = {
    RuleEntry{"ReverseSequence", same_shape},
    RuleEntry{"Transpose", transpose},
    RuleEntry{"Trilu", same_shape},
    RuleEntry{"com.microsoft.Trilu", same_shape},
};

}  // namespace

std::span<const RuleEntry> movement_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
