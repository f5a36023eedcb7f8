#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

void top_k(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto axis = node.axis(node.integer("axis", -1), node.rank(0));
  if (!axis) {
    return;
  }
  const Expr k =
      node.has_attribute("k")
          ? node.number(static_cast<double>(std::max<std::int64_t>(node.integer("k", 1), 0)))
          : number_or_unknown(node, 1, ".k", fmt::format("k of TopK '{}'", node.name()));
  Shape shape = node.shape(0);
  const Expr columns = shape[*axis];
  const Expr rows = quotient(node.elements(0), columns);
  shape[*axis] = k;
  const ValueId values = node.set(0, node.in(0).type, shape);
  const ValueId indices = node.set(1, pb::TensorProto::INT64, shape);
  node.emit({.kind = "top_k",
             .dims = {{"r", rows}, {"c", columns}, {"k", k}},
             .operands = {{"x", node.id(0)}, {"o", values}, {"indices", indices}}});
}

/// How many are not zero is known when it runs.
void non_zero(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const Expr count = node.unknown(
      ".count", fmt::format("how many elements of {} are not zero", node.proto().input(0)));
  const Shape shape{node.number(static_cast<double>(node.rank(0))), count};
  const ValueId output = node.set(0, pb::TensorProto::INT64, shape);
  node.emit_many("elementwise", {node.id(0)}, output,
                 {{"n", elements(node.pool(), shape)}, {"a", node.number(1)}},
                 {{"function", "non_zero"}});
}

void compress(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  const Expr count =
      node.unknown(".count", fmt::format("how many Compress '{}' keeps", node.name()));
  Shape shape{count};
  if (node.has_attribute("axis")) {
    const auto axis = node.axis(node.integer("axis", 0), node.rank(0));
    if (!axis) {
      return;
    }
    shape = node.shape(0);
    shape[*axis] = count;
  }
  const Expr kept = elements(node.pool(), shape);
  node.emit_many("move", {node.id(0), node.id(1)}, node.set(0, node.in(0).type, shape),
                 {{"n", kept}, {"i", kept}}, {{"function", "Compress"}});
}

/// Sorted at least once: one comparison per element and more.
void unique(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const Expr count =
      node.unknown(".count", fmt::format("how many differ in Unique '{}'", node.name()));
  Shape shape{count};
  Expr rows = node.elements(0);
  if (node.has_attribute("axis")) {
    const auto axis = node.axis(node.integer("axis", 0), node.rank(0));
    if (!axis) {
      return;
    }
    shape = node.shape(0);
    rows = shape[*axis];
    shape[*axis] = count;
  }
  const ValueId output = node.set(0, node.in(0).type, shape);
  // First places, places of all elements, and how often; com.microsoft has no first places.
  const std::size_t next = node.proto().domain().empty() ? 1 : 0;
  node.set(1, pb::TensorProto::INT64, Shape{count});
  node.set(1 + next, pb::TensorProto::INT64, Shape{rows});
  node.set(2 + next, pb::TensorProto::INT64, Shape{count});
  node.emit_many("elementwise", {node.id(0)}, output,
                 {{"n", elements(node.pool(), shape)}, {"a", node.number(1)}},
                 {{"function", "unique"}});
}

/// Boxes that overlap a better one go: how many stay is known when it runs, at most
/// `max_output_boxes_per_class` of each class and image.
void suppress(Node& node) {
  if (!needs_inputs(node, 2) || node.rank(0) != 3 || node.rank(1) != 3) {
    return;
  }
  const auto most = node.integers(2);
  std::string meaning = fmt::format("boxes that NonMaxSuppression '{}' keeps", node.name());
  if (most && most->size() == 1) {
    meaning += fmt::format(", at most {} of a class and image", most->front());
  }
  const Expr count = node.unknown(".count", meaning);
  const ValueId output = node.set(0, pb::TensorProto::INT64, Shape{count, node.number(3)});
  node.emit_many("elementwise", {node.id(0), node.id(1)}, output,
                 {{"n", product(count, node.number(3))}, {"a", node.number(13)}},
                 {{"function", "non_max_suppression"}});
}

/// The cheapest path through a table of costs, of a length known when it runs.
void time_warping(Node& node) {
  if (needs_inputs(node, 1) && node.rank(0) >= 2) {
    const Expr length = node.unknown(
        ".length", fmt::format("steps of the path of DynamicTimeWarping '{}'", node.name()));
    const Shape shape{node.number(2), length};
    node.emit({.kind = "reduce",
               .dims = {{"r", node.number(1)}, {"c", node.elements(0)}, {"a", node.number(3)}},
               .operands = {{"x", node.id(0)}, {"o", node.set(0, pb::TensorProto::INT32, shape)}},
               .attributes = {{"reduction", "path"}}});
  }
}

constexpr std::array kRules = {
    RuleEntry{"com.microsoft.DynamicTimeWarping", time_warping},
    RuleEntry{"com.microsoft.Unique", unique},
    RuleEntry{"Compress", compress},
    RuleEntry{"NonMaxSuppression", suppress},
    RuleEntry{"NonZero", non_zero},
    RuleEntry{"TopK", top_k},
    RuleEntry{"Unique", unique},
};

}  // namespace

std::span<const RuleEntry> search_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
