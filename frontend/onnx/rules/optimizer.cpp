#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

/// A step of an optimizer: rate and count, then (value, gradient, state...) of each tensor.
void optimizer(Node& node) {
  const std::size_t states = node.type() == "Adam" ? 2 : 1;
  const std::size_t groups = node.inputs() > 2 ? (node.inputs() - 2) / (2 + states) : 0;
  for (std::size_t g = 0; g < groups; ++g) {
    if (!needs_inputs(node, 2 + groups * (2 + states))) {
      return;
    }
    const std::size_t value = 2 + g;
    std::vector<ValueId> read;
    for (std::size_t i = value; i < node.inputs(); i += groups) {
      read.push_back(node.id(i));
    }
    const Expr count = node.elements(value);
    for (std::size_t s = 0; s <= states; ++s) {
      const std::size_t input = s == 0 ? value : value + (1 + s) * groups;
      const ValueId output = node.set(g + s * groups, node.in(input).type, node.shape(input));
      // The new state is a scaled sum; the new value also takes a root and a quotient.
      const double arithmetic = s == 0 ? 4 : 3;
      const double special = s == 0 && node.type() != "Momentum" ? 1 : 0;
      const auto written = [&] {
        return std::vector<std::pair<std::string_view, Expr>>{
            {"n", count}, {"a", node.number(arithmetic)}, {"s", node.number(special)}};
      };
      node.emit_many("elementwise", s == 0 ? read : std::vector{node.id(input), read[1]}, output,
                     written(), {{"function", node.type()}}, fmt::format(".{}", g + s * groups));
    }
  }
}

constexpr std::array kRules = {
    RuleEntry{"ai.onnx.preview.training.Adagrad", optimizer},
    RuleEntry{"ai.onnx.preview.training.Adam", optimizer},
    RuleEntry{"ai.onnx.preview.training.Momentum", optimizer},
};

}  // namespace

std::span<const RuleEntry> optimizer_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
