#include <array>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

/// The scores of the labels, negated and weighted; added up unless the reduction is "none".
/// Scores are [batch, classes, d...], labels [batch, d...].
void emit_loss(Node& node, ValueId logs) {
  const Expr labels = node.elements(1);
  const int type = node.in(0).type;
  const ValueId picked = node.between(type, node.shape(1));
  node.emit_many("move", {logs, node.id(1)}, picked, {{"n", labels}, {"i", labels}},
                 {{"function", "pick"}}, ".pick");
  const bool keeps = node.text("reduction", "mean") == "none";
  const ValueId weighted =
      keeps ? node.set(0, type, node.shape(1)) : node.between(type, node.shape(1));
  node.emit_many("elementwise", {picked}, weighted,
                 {{"n", labels}, {"a", node.number(node.has(2) ? 2 : 1)}},
                 {{"function", node.type()}});
  if (!keeps) {
    node.emit({.kind = "reduce",
               .dims = {{"r", node.number(1)}, {"c", labels}},
               .operands = {{"x", weighted}, {"o", node.set(0, type, Shape())}},
               .attributes = {{"reduction", "ReduceSum"}},
               .suffix = ".reduce"});
  }
}

void likelihood(Node& node) {
  if (needs_inputs(node, 2)) {
    emit_loss(node, node.id(0));
  }
}

/// A softmax in logarithms (largest, difference, exponential, sum, difference) and the same.
void cross_entropy(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  const ValueId logs = node.set(1, node.in(0).type, node.shape(0));
  node.emit_many("elementwise", {node.id(0)}, logs,
                 {{"n", node.elements(0)}, {"a", node.number(4)}, {"s", node.number(1)}},
                 {{"function", "log_softmax"}}, ".log_softmax");
  emit_loss(node, logs);
}

constexpr std::array kRules = {
    RuleEntry{"NegativeLogLikelihoodLoss", likelihood},
    RuleEntry{"SoftmaxCrossEntropyLoss", cross_entropy},
};

}  // namespace

std::span<const RuleEntry> loss_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
