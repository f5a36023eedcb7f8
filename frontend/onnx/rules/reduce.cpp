#include <algorithm>
#include <array>
#include <set>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

/// Arithmetic and special operations per element that is reduced.
Cost cost_of(const std::string& type) {
  if (type == "ReduceLogSumExp") {
    return {2, 1, "reduce"};
  }
  return type == "ReduceSumSquare" || type == "ReduceL2" || type == "ReduceL1"
             ? Cost{2, 0, "reduce"}
             : Cost{1, 0, "reduce"};
}

void emit_reduce(const Node& node, ValueId x, ValueId output, const Cost& cost) {
  const Expr read = elements(node.pool(), *node.importer().value(x).shape);
  const Expr written = elements(node.pool(), *node.importer().value(output).shape);
  node.emit({.kind = "reduce",
             .dims = {{"r", written},
                      {"c", quotient(read, written)},
                      {"a", node.number(cost.arithmetic)},
                      {"s", node.number(cost.special)}},
             .operands = {{"x", x}, {"o", output}},
             .attributes = {{"reduction", node.type()}}});
}

/// Products and sums of a few known extents.
Content reduced_content(const Node& node, bool all) {
  const auto content = node.content(0);
  if (!content || !all || content->empty()) {
    return std::nullopt;
  }
  Expr result = content->front();
  for (std::size_t i = 1; i < content->size(); ++i) {
    const Expr next = (*content)[i];
    if (node.type() == "ReduceProd") {
      result = product(result, next);
    } else if (node.type() == "ReduceSum") {
      result = sum(result, next);
    } else if (node.type() == "ReduceMax") {
      result = ir::max(result, next);
    } else if (node.type() == "ReduceMin") {
      result = ir::min(result, next);
    } else {
      return std::nullopt;
    }
  }
  return std::vector<Expr>{result};
}

void reduce(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  // The quantised ones have scales as inputs, axes as an attribute only.
  const bool attributes_only = node.type() != "ReduceSum" && !node.proto().domain().empty();
  const auto list =
      attributes_only ? std::optional(node.list("axes")) : node.list_or_input("axes", 1);
  const bool keeps = node.integer("keepdims", 1) != 0;
  const std::size_t rank = node.rank(0);
  std::set<std::size_t> axes;
  if (!attributes_only && node.has(1) && !list) {
    node.set(0, node.in(0).type, std::nullopt);
    return;
  }
  for (const std::int64_t a : list.value_or(std::vector<std::int64_t>())) {
    const auto axis = node.axis(a, rank);
    if (!axis) {
      return;
    }
    axes.insert(*axis);
  }
  const bool none = axes.empty();
  if (none && node.integer("noop_with_empty_axes", 0) != 0) {
    node.view(0, 0, node.shape(0));
    return;
  }
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool goes = none || axes.contains(i);
    if (!goes) {
      shape.push_back(node.shape(0)[i]);
    } else if (keeps) {
      shape.push_back(node.number(1));
    }
  }
  Content content = reduced_content(node, none || axes.size() == rank);
  const bool known = content.has_value();
  const ValueId output = node.set(0, node.in(0).type, std::move(shape), std::move(content));
  if (!known) {
    emit_reduce(node, node.id(0), output, cost_of(node.type()));
  }
}

void arg_max(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto axis = node.axis(node.integer("axis", 0), node.rank(0));
  if (!axis) {
    return;
  }
  Shape shape = node.shape(0);
  if (node.integer("keepdims", 1) != 0) {
    shape[*axis] = node.number(1);
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis));
  }
  emit_reduce(node, node.id(0), node.set(0, pb::TensorProto::INT64, std::move(shape)), {1, 0, ""});
}

/// A running sum or product writes every prefix.
void scan(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const ValueId output = node.set(0, node.in(0).type, node.shape(0));
  node.emit({.kind = "reduce",
             .dims = {{"r", node.elements(0)}, {"c", node.number(1)}},
             .operands = {{"x", node.id(0)}, {"o", output}},
             .attributes = {{"reduction", node.type()}}});
}

/// One truth of all elements of all inputs.
void all_finite(Node& node) {
  if (needs_inputs(node, 1)) {
    const ValueId output = node.set(0, pb::TensorProto::BOOL, Shape());
    Expr read = node.number(0);
    for (std::size_t i = 0; i < node.inputs(); ++i) {
      read = node.has(i) ? sum(read, node.elements(i)) : read;
    }
    node.emit_many("elementwise", present_inputs(node), output,
                   {{"n", node.number(1)}, {"a", read}}, {{"function", "is_finite"}});
  }
}

constexpr std::array kRules = {
    RuleEntry{"ArgMax", arg_max},
    RuleEntry{"ArgMin", arg_max},
    RuleEntry{"CumProd", scan},
    RuleEntry{"CumSum", scan},
    RuleEntry{"ReduceL1", reduce},
    RuleEntry{"ReduceL2", reduce},
    RuleEntry{"ReduceLogSum", reduce},
    RuleEntry{"ReduceLogSumExp", reduce},
    RuleEntry{"ReduceMax", reduce},
    RuleEntry{"ReduceMean", reduce},
    RuleEntry{"ReduceMin", reduce},
    RuleEntry{"ReduceProd", reduce},
    RuleEntry{"ReduceSum", reduce},
    RuleEntry{"ReduceSumSquare", reduce},
    RuleEntry{"com.microsoft.IsAllFinite", all_finite},
    RuleEntry{"com.microsoft.QLinearReduceMean", reduce},
    RuleEntry{"com.microsoft.ReduceSumInteger", reduce},
};

}  // namespace

std::span<const RuleEntry> reduce_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
