#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/types.hpp"

namespace mansard::frontend::onnx {
namespace {

int quantized_type(const Node& node, std::size_t zero_point) {
  if (node.has(zero_point)) {
    return node.in(zero_point).type;
  }
  return static_cast<int>(node.integer("output_dtype", pb::TensorProto::UINT8));
}

/// Into few bits. Where only this reads what an op has written, that op writes it narrow: the pair
/// of quantise and dequantise is a format, not work.
void quantize(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const int type = quantized_type(node, 2);
  Importer& importer = node.importer();
  const bool alone = importer.is_read_once(node.proto().input(0));
  const Value source = node.in(0);
  if (alone && source.tensor && !source.is_input && !source.is_constant && !importer.is_silent()) {
    importer.graph().tensor(*source.tensor).dtype = dtype_of(type);
    importer.value(node.view(0, 0, node.shape(0))).type = type;
    return;
  }
  elementwise(node, {0}, type, {2, 0, "quantize"});
}

/// Back: nothing moves, its readers take the narrow tensor.
void dequantize(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const Value source = node.in(0);
  const int type = node.has(1) ? node.in(1).type : static_cast<int>(pb::TensorProto::FLOAT);
  const ValueId id = node.view(0, 0, node.shape(0));
  Value& result = node.importer().value(id);
  result.type = type;
  result.content.reset();
  if (source.is_constant) {
    result.is_constant = true;
    result.root = source.root;
    if (source.root) {
      node.importer().root(*source.root).counts = true;
    }
  }
}

void dynamic_quantize(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const int scale_type = node.in(0).type;
  // Greatest and least first, then the values.
  elementwise(node, {0}, pb::TensorProto::UINT8, {4, 0, "quantize"});
  node.set(1, scale_type, Shape());
  node.set(2, pb::TensorProto::UINT8, Shape());
}

/// Elementwise on integers with scales: a, its scale and zero point, b likewise.
void qlinear_binary(Node& node) {
  if (needs_inputs(node, 4)) {
    elementwise(node, {0, 3}, node.in(0).type, {4, 0, "add"});
  }
}

void qlinear_unary(Node& node) {
  if (needs_inputs(node, 1)) {
    elementwise(node, {0}, node.in(0).type, {3, 1, "sigmoid"});
  }
}

void qlinear_softmax(Node& node) {
  if (needs_inputs(node, 1) && node.rank(0) > 0) {
    const Expr columns = node.shape(0).back();
    const ValueId output = node.set(0, node.in(0).type, node.shape(0));
    node.emit({.kind = "softmax",
               .dims = {{"r", quotient(node.elements(0), columns)}, {"c", columns}},
               .operands = {{"x", node.id(0)}, {"o", output}}});
  }
}

/// Scale and zero point of the result first, then (tensor, scale, zero point) of each input.
void qlinear_concat(Node& node) {
  if (!needs_inputs(node, 3)) {
    return;
  }
  const auto axis = node.axis(node.integer("axis", 0), node.rank(2));
  if (!axis) {
    return;
  }
  Shape shape = node.shape(2);
  std::vector<ValueId> values{node.id(2)};
  for (std::size_t i = 5; i < node.inputs(); i += 3) {
    if (node.has(i) && node.rank(i) == shape.size()) {
      shape[*axis] = sum(shape[*axis], node.shape(i)[*axis]);
      values.push_back(node.id(i));
    }
  }
  node.emit_move(values, node.set(0, node.in(2).type, shape));
}

/// A condition, then (tensor, scale, zero point) of both choices.
void qlinear_where(Node& node) {
  if (needs_inputs(node, 5)) {
    elementwise(node, {0, 1, 4}, node.in(1).type, {3, 0, "where"});
  }
}

/// a, its zero point, b, its zero point.
void integer_multiply(Node& node) {
  if (needs_inputs(node, 3)) {
    elementwise(node, {0, 2}, pb::TensorProto::INT32, {3, 0, "mul"});
  }
}

void quantize_ordered(Node& node) {
  if (needs_inputs(node, 1)) {
    elementwise(node, {0}, pb::TensorProto::INT8, {2, 0, "quantize"});
  }
}

void dequantize_ordered(Node& node) {
  if (needs_inputs(node, 2)) {
    elementwise(node, {0}, node.in(1).type, {1, 0, "dequantize"});
  }
}

void ordered_gelu(Node& node) {
  if (needs_inputs(node, 1)) {
    elementwise(node, {0}, node.in(0).type, {6, 1, "gelu"});
  }
}

constexpr std::array kRules = {
    RuleEntry{"DequantizeLinear", dequantize, false, true},
    RuleEntry{"DynamicQuantizeLinear", dynamic_quantize},
    RuleEntry{"QuantizeLinear", quantize},
    RuleEntry{"com.microsoft.DequantizeLinear", dequantize, false, true},
    RuleEntry{"com.microsoft.DequantizeWithOrder", dequantize_ordered},
    RuleEntry{"com.microsoft.MulInteger", integer_multiply},
    RuleEntry{"com.microsoft.QLinearAdd", qlinear_binary},
    RuleEntry{"com.microsoft.QLinearConcat", qlinear_concat},
    RuleEntry{"com.microsoft.QLinearLeakyRelu", qlinear_unary},
    RuleEntry{"com.microsoft.QLinearMul", qlinear_binary},
    RuleEntry{"com.microsoft.QLinearSigmoid", qlinear_unary},
    RuleEntry{"com.microsoft.QLinearSoftmax", qlinear_softmax},
    RuleEntry{"com.microsoft.QLinearWhere", qlinear_where},
    RuleEntry{"com.microsoft.QOrderedGelu", ordered_gelu},
    RuleEntry{"com.microsoft.QuantizeLinear", quantize},
    RuleEntry{"com.microsoft.QuantizeWithOrder", quantize_ordered},
};

}  // namespace

std::span<const RuleEntry> quantize_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
