#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

/// Gates of a cell, and arithmetic and special operations per hidden unit and step.
struct Cell {
  double gates;
  double arithmetic;
  double special;
};

/// LSTM: 4 gates of two sums and a logistic (2 + 1) or tanh, c = f c + i g, h = o tanh(c). GRU: 3
/// gates, h = (1 - z) n + z h. Plain: a sum and a tanh.
Cell cell_of(const std::string& type) {
  if (type.ends_with("LSTM")) {
    return {4, 4 * 2 + 3 * 2 + 3 + 1, 5};
  }
  return type == "GRU" ? Cell{3, 3 * 2 + 2 * 2 + 5, 3} : Cell{1, 2, 1};
}

/// x [steps, batch, input], w [directions, gates hidden, input], r [.., hidden], bias.
void recurrent(Node& node) {
  if (!needs_inputs(node, 3)) {
    return;
  }
  if (node.rank(0) != 3 || node.rank(1) != 3 || node.rank(2) != 3) {
    node.error("onnx-rank", fmt::format("reads tensors of rank {}, {} and {}, expected 3 each",
                                        node.rank(0), node.rank(1), node.rank(2)));
    return;
  }
  const Cell cell = cell_of(node.type());
  const bool batch_first = node.integer("layout", 0) == 1;
  const Shape& x = node.shape(0);
  const Expr steps = x[batch_first ? 1 : 0];
  const Expr batch = x[batch_first ? 0 : 1];
  const Expr directions = node.shape(1)[0];
  // The quantised one keeps its weights transposed.
  const bool transposed = node.type() == "DynamicQuantizeLSTM";
  const Expr hidden = node.shape(2)[transposed ? 1 : 2];
  const int type = node.in(0).type;
  const Shape all = batch_first ? Shape{batch, steps, directions, hidden}
                                : Shape{steps, directions, batch, hidden};
  const Shape state =
      batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  const ValueId output = node.set(0, type, all);
  const ValueId last = node.set(1, type, state);
  if (node.wants(2)) {
    node.set(2, type, state);
  }
  OpSpec spec{.kind = "recurrent",
              .dims = {{"t", steps},
                       {"b", batch},
                       {"h", hidden},
                       {"i", x[2]},
                       {"g", node.number(cell.gates)},
                       {"d", directions},
                       {"a", node.number(cell.arithmetic)},
                       {"s", node.number(cell.special)}},
              .operands = {{"x", node.id(0)},
                           {"w", node.id(1), true},
                           {"r", node.id(2), true},
                           {"o", output},
                           {"last", last}},
              .attributes = {{"cell", node.type()}}};
  if (node.has(3)) {
    spec.operands.push_back({"bias", node.id(3), true});
  }
  node.emit(std::move(spec));
}

constexpr std::array kRules = {
    RuleEntry{"GRU", recurrent},
    RuleEntry{"LSTM", recurrent},
    RuleEntry{"RNN", recurrent},
    RuleEntry{"com.microsoft.DynamicQuantizeLSTM", recurrent},
};

}  // namespace

std::span<const RuleEntry> recurrent_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
