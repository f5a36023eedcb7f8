#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/types.hpp"

namespace mansard::frontend::onnx {
namespace {

/// At least a matrix: a vector is a row on the left and a column on the right.
Shape as_matrix(const Shape& shape, bool left, ir::ExprPool& pool) {
  if (shape.size() != 1) {
    return shape;
  }
  return left ? Shape{pool.constant(1), shape[0]} : Shape{shape[0], pool.constant(1)};
}

Shape leading(const Shape& shape) {
  return Shape(shape.begin(), shape.end() - 2);
}

bool disagree(Expr a, Expr b) {
  return a.is_constant() && b.is_constant() && a.constant() != b.constant();
}

/// a b where w[copies, k, n] is what each of `copies` groups of rows of a is multiplied with.
void emit_product(const Node& node, const Matmul& m, ValueId rows, ValueId weights,
                  const Shape& weight_leading, Expr n, Expr k, ValueId output) {
  ir::ExprPool& pool = node.pool();
  const Expr copies = elements(pool, weight_leading);
  const Expr written = elements(pool, *node.importer().value(output).shape);
  OpSpec spec{
      .kind = "matmul",
      .dims = {{"b", copies}, {"m", quotient(written, product(copies, n))}, {"n", n}, {"k", k}},
      .operands = {{"a", rows}, {"w", weights, true}, {"c", output}},
      .suffix = m.suffix};
  if (m.bias) {
    spec.dims.emplace_back("bias", pool.constant(1));
    spec.operands.push_back({"bias", *m.bias, true});
  }
  node.emit(std::move(spec));
}

Shape transposed(Shape shape) {
  if (shape.size() >= 2) {
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  }
  return shape;
}

ValueId multiply(Node& node, Matmul m, int type) {
  auto shape = matmul_shape(node, m.a_shape, m.b_shape);
  const bool known = shape.has_value();
  const ValueId output = node.set(0, type, std::move(shape));
  if (known) {
    emit_matmul(node, m, output);
  }
  return output;
}

void matmul(Node& node) {
  if (needs_inputs(node, 2)) {
    const bool integer = node.type() == "MatMulInteger";
    multiply(node,
             {.a = node.id(0), .b = node.id(1), .a_shape = node.shape(0), .b_shape = node.shape(1)},
             integer ? pb::TensorProto::INT32 : node.in(0).type);
  }
}

/// Of integers with scales: a, its scale and zero point, b likewise.
void qlinear_matmul(Node& node) {
  if (needs_inputs(node, 4)) {
    const int type = node.has(7) ? node.in(7).type : node.in(0).type;
    multiply(node,
             {.a = node.id(0), .b = node.id(3), .a_shape = node.shape(0), .b_shape = node.shape(3)},
             type);
  }
}

/// Integers in, floating point out, with the scales applied: b at input 1, bias at `bias`.
void matmul_integer_to_float(Node& node) {
  if (needs_inputs(node, 2)) {
    const bool dynamic = node.type() == "DynamicQuantizeMatMul";
    const std::size_t bias = dynamic ? 4 : 6;
    Matmul m{.a = node.id(0), .b = node.id(1), .a_shape = node.shape(0), .b_shape = node.shape(1)};
    if (node.has(bias)) {
      m.bias = node.id(bias);
    }
    multiply(node, m, pb::TensorProto::FLOAT);
  }
}

/// alpha a b with either transposed.
void fused_matmul(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  const bool left = node.integer("transA", 0) != 0;
  const bool right = node.integer("transB", 0) != 0;
  const auto seen = [&](std::size_t i, bool swaps, const char* batch) {
    Shape shape = node.shape(i);
    if (shape.size() > 2 && node.integer(batch, 0) != 0) {  // The first extent is a row's.
      std::rotate(shape.begin(), shape.begin() + 1, shape.end() - 1);
    }
    return swaps ? transposed(std::move(shape)) : shape;
  };
  multiply(node,
           {.a = node.id(0),
            .b = node.id(1),
            .a_shape = seen(0, left, "transBatchA"),
            .b_shape = seen(1, right, "transBatchB")},
           node.in(0).type);
}

void gemm(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  if (node.rank(0) != 2 || node.rank(1) != 2) {
    node.error("onnx-rank", fmt::format("multiplies tensors of rank {} and {}, expected matrices",
                                        node.rank(0), node.rank(1)));
    return;
  }
  Matmul m{.a = node.id(0),
           .b = node.id(1),
           .a_shape = node.integer("transA", 0) != 0 ? transposed(node.shape(0)) : node.shape(0),
           .b_shape = node.integer("transB", 0) != 0 ? transposed(node.shape(1)) : node.shape(1)};
  const auto shape = matmul_shape(node, m.a_shape, m.b_shape);
  if (!shape) {
    return;
  }
  const bool row = node.has(2) && node.elements(2) == shape->back();
  if (row) {
    m.bias = node.id(2);
  }
  const bool apart = node.has(2) && !row;
  const ValueId output = node.set(0, node.in(0).type, *shape);
  const ValueId made = apart ? node.between(node.in(0).type, *shape) : output;
  emit_matmul(node, m, made);
  if (apart) {
    emit_elementwise(node, {made, node.id(2)}, output, {1, 0, "add"}, ".bias");
  }
  const std::string activation = node.text("activation", "");
  if (!activation.empty()) {
    node.importer().note(fmt::format("{}: the activation is part of the matmul", node.full_type()));
  }
}

/// numpy's matmul, a bias and the approximate gelu.
void gemm_gelu(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  Matmul m{.a = node.id(0), .b = node.id(1), .a_shape = node.shape(0), .b_shape = node.shape(1)};
  if (node.has(2)) {
    m.bias = node.id(2);
  }
  const auto shape = matmul_shape(node, m.a_shape, m.b_shape);
  if (!shape) {
    return;
  }
  const int type = node.in(0).type;
  const ValueId made = node.between(type, *shape);
  emit_matmul(node, m, made);
  emit_elementwise(node, {made}, node.set(0, type, *shape), {8, 1, "gelu_new"}, ".gelu");
}

/// Of integers with scales: a at 0, b at `b`, a bias at `bias`.
void scaled_gemm(Node& node, std::size_t b, std::size_t bias, int type) {
  Matmul m{.a = node.id(0),
           .b = node.id(b),
           .a_shape = node.integer("transA", 0) != 0 ? transposed(node.shape(0)) : node.shape(0),
           .b_shape = node.integer("transB", 0) != 0 ? transposed(node.shape(b)) : node.shape(b)};
  if (node.has(bias)) {
    m.bias = node.id(bias);
  }
  multiply(node, m, type);
}

void quantized_gemm(Node& node) {
  if (needs_inputs(node, 4)) {
    scaled_gemm(node, 3, 6,
                node.has(8) ? node.in(8).type : static_cast<int>(pb::TensorProto::FLOAT));
  }
}

void ordered_matmul(Node& node) {
  if (needs_inputs(node, 3)) {
    scaled_gemm(node, 2, 5, node.in(0).type);
  }
}

/// Distances of each row of a to each of b: a difference, a square and a sum a feature.
void distances(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  if (node.rank(0) != 2 || node.rank(1) != 2) {
    node.error("onnx-rank", fmt::format("distances of tensors of rank {} and {}, expected rows",
                                        node.rank(0), node.rank(1)));
    return;
  }
  const Shape shape{node.shape(0)[0], node.shape(1)[0]};
  const bool root = node.text("metric", "euclidean") == "euclidean";
  node.emit_many("elementwise", {node.id(0), node.id(1)}, node.set(0, node.in(0).type, shape),
                 {{"n", elements(node.pool(), shape)},
                  {"a", product(node.number(3), node.shape(0)[1])},
                  {"s", node.number(root ? 1 : 0)}},
                 {{"function", "cdist"}});
}

/// By elimination: 2 n^3 of n x n, so 2 n an element.
void inverse(Node& node) {
  if (needs_inputs(node, 1) && node.rank(0) >= 2) {
    node.emit_many("elementwise", {node.id(0)}, node.set(0, node.in(0).type, node.shape(0)),
                   {{"n", node.elements(0)}, {"a", product(node.number(2), node.shape(0).back())}},
                   {{"function", "inverse"}});
  }
}

/// Weights of few bits, packed: b is [n, blocks, bytes of a block] with a scale a block.
void matmul_nbits(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  std::int64_t n = node.integer("N", 0);
  std::int64_t k = node.integer("K", 0);
  if (const auto shape = node.integers(2);
      node.type() == "MatMulFpQ4" && shape && shape->size() == 2) {
    k = shape->front();
    n = shape->back();
  }
  if (n <= 0 || k <= 0) {
    node.error("onnx-attribute", "has no attributes N and K");
    return;
  }
  Matmul m{.a = node.id(0),
           .b = node.id(1),
           .a_shape = node.shape(0),
           .b_shape = {node.number(static_cast<double>(k)), node.number(static_cast<double>(n))}};
  if (node.has(5)) {
    m.bias = node.id(5);
  }
  repack(node, 1, {n, k}, node.integer("bits", 4), node.integer("block_size", 32));
  multiply(node, m, node.in(0).type);
}

// Einsum.

struct Labels {
  std::vector<std::string> inputs;
  std::string output;
};

/// Labels of each operand and the output; an ellipsis becomes labels of its own (digits). Absent:
/// not an equation.
std::optional<Labels> parse_equation(const Node& node, std::string equation) {
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow);
  Labels labels;
  std::size_t ellipsis = 0;
  for (std::size_t begin = 0, i = 0; begin <= left.size(); ++i) {
    const std::size_t comma = std::min(left.find(',', begin), left.size());
    std::string one = left.substr(begin, comma - begin);
    if (!node.has(i)) {
      return std::nullopt;
    }
    if (const std::size_t dots = one.find("..."); dots != std::string::npos) {
      const std::size_t named = one.size() - 3;
      if (node.rank(i) < named || node.rank(i) - named > 9) {
        return std::nullopt;
      }
      const std::size_t count = node.rank(i) - named;
      ellipsis = std::max(ellipsis, count);
      std::string own;
      for (std::size_t d = 0; d < count; ++d) {
        own += static_cast<char>('0' + static_cast<int>(9 - count + d));
      }
      one = one.substr(0, dots) + own + one.substr(dots + 3);
    }
    if (one.size() != node.rank(i)) {
      return std::nullopt;
    }
    labels.inputs.push_back(one);
    begin = comma + 1;
  }
  std::string shared;
  for (std::size_t d = 0; d < ellipsis; ++d) {
    shared += static_cast<char>('0' + static_cast<int>(9 - ellipsis + d));
  }
  if (arrow == std::string::npos) {
    std::map<char, int> seen;
    for (const std::string& one : labels.inputs) {
      for (const char c : one) {
        ++seen[c];
      }
    }
    labels.output = shared;
    for (const auto& [c, count] : seen) {
      labels.output += count == 1 && shared.find(c) == std::string::npos ? std::string(1, c) : "";
    }
    return labels;
  }
  labels.output = equation.substr(arrow + 2);
  if (const std::size_t dots = labels.output.find("..."); dots != std::string::npos) {
    labels.output = labels.output.substr(0, dots) + shared + labels.output.substr(dots + 3);
  }
  return labels;
}

bool holds(const std::string& labels, char c) {
  return labels.find(c) != std::string::npos;
}

/// Extents of an einsum's labels.
class Extents {
 public:
  bool add(const std::string& labels, const Shape& shape) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto found = extents_.find(labels[i]);
      const auto both =
          found == extents_.end() ? std::optional(shape[i]) : broadcast(found->second, shape[i]);
      if (!both) {
        return false;
      }
      extents_[labels[i]] = *both;
    }
    return true;
  }
  [[nodiscard]] bool has(char label) const { return extents_.contains(label); }
  [[nodiscard]] Expr of(ir::ExprPool& pool, const std::string& labels) const {
    Expr result = pool.constant(1);
    for (const char c : labels) {
      result = product(result, extents_.find(c)->second);
    }
    return result;
  }
  [[nodiscard]] Shape shape(const std::string& labels) const {
    Shape result;
    for (const char c : labels) {
      result.push_back(extents_.find(c)->second);
    }
    return result;
  }

 private:
  std::map<char, Expr> extents_;
};

template <typename Keep>
std::string chosen(const std::string& labels, Keep keep) {
  std::string result;
  for (const char c : labels) {
    if (keep(c) && !holds(result, c)) {
      result += c;
    }
  }
  return result;
}

/// One contraction: labels of both and of the result are copies, of both only are reduced.
void contract(const Node& node, const Extents& extents, const std::string& left,
              const std::string& right, const std::string& result,
              const std::array<ValueId, 3>& values, const std::string& suffix) {
  ir::ExprPool& pool = node.pool();
  const std::string copies =
      chosen(left, [&](char c) { return holds(right, c) && holds(result, c); });
  const std::string reduced =
      chosen(left, [&](char c) { return holds(right, c) && !holds(result, c); });
  const std::string rows =
      chosen(left, [&](char c) { return !holds(right, c) && holds(result, c); });
  const std::string columns =
      chosen(right, [&](char c) { return !holds(left, c) && holds(result, c); });
  if (reduced.empty()) {
    emit_elementwise(node, {values[0], values[1]}, values[2], {1, 0, "mul"}, suffix);
    return;
  }
  const bool swapped =
      node.importer().value(values[0]).is_constant && !node.importer().value(values[1]).is_constant;
  node.emit({.kind = "matmul",
             .dims = {{"b", extents.of(pool, copies)},
                      {"m", extents.of(pool, swapped ? columns : rows)},
                      {"n", extents.of(pool, swapped ? rows : columns)},
                      {"k", extents.of(pool, reduced)}},
             .operands = {{"a", values[swapped ? 1 : 0]},
                          {"w", values[swapped ? 0 : 1], true},
                          {"c", values[2]}},
             .suffix = suffix});
}

void einsum(Node& node) {
  const auto labels = parse_equation(node, node.text("equation", ""));
  Extents extents;
  bool fits = labels && labels->inputs.size() == node.inputs();
  for (std::size_t i = 0; fits && i < node.inputs(); ++i) {
    fits = extents.add(labels->inputs[i], node.shape(i));
  }
  fits = fits && std::ranges::all_of(labels->output, [&](char c) { return extents.has(c); });
  if (!fits) {
    node.error("onnx-equation", fmt::format("the equation '{}' does not fit its {} inputs",
                                            node.text("equation", ""), node.inputs()));
    return;
  }
  const ValueId output = node.set(0, node.in(0).type, extents.shape(labels->output));
  if (node.inputs() == 1) {
    // A label twice takes the diagonal.
    const Expr read = extents.of(node.pool(), chosen(labels->inputs[0], [](char) { return true; }));
    const Expr written = extents.of(node.pool(), labels->output);
    if (read == written) {
      node.emit_many("move", {node.id(0)}, output, {{"n", written}, {"i", read}},
                     {{"function", "Einsum"}});
    } else {
      node.emit({.kind = "reduce",
                 .dims = {{"r", written}, {"c", quotient(read, written)}},
                 .operands = {{"x", node.id(0)}, {"o", output}}});
    }
    return;
  }
  ValueId left = node.id(0);
  std::string left_labels = labels->inputs[0];
  for (std::size_t i = 1; i < node.inputs(); ++i) {
    const bool last = i + 1 == node.inputs();
    std::string later = labels->output;
    for (std::size_t j = i + 1; j < node.inputs(); ++j) {
      later += labels->inputs[j];
    }
    const std::string result =
        last ? labels->output
             : chosen(left_labels + labels->inputs[i], [&](char c) { return holds(later, c); });
    const ValueId made = last ? output : node.between(node.in(0).type, extents.shape(result));
    contract(node, extents, left_labels, labels->inputs[i], result, {left, node.id(i), made},
             last ? std::string() : fmt::format(".{}", i));
    left = made;
    left_labels = result;
  }
}

/// Determinants and inverses of square matrices by elimination.
void determinant(Node& node) {
  if (!needs_inputs(node, 1) || node.rank(0) < 2) {
    return;
  }
  const Shape batch = leading(node.shape(0));
  const Expr side = node.shape(0).back();
  const ValueId output = node.set(0, node.in(0).type, batch);
  const Expr count = elements(node.pool(), batch);
  node.emit({.kind = "reduce",
             .dims = {{"r", count}, {"c", product(side, side)}, {"a", side}},
             .operands = {{"x", node.id(0)}, {"o", output}}});
}

constexpr std::array kRules = {
    RuleEntry{"Det", determinant},
    RuleEntry{"Einsum", einsum},
    RuleEntry{"Gemm", gemm},
    RuleEntry{"MatMul", matmul},
    RuleEntry{"MatMulInteger", matmul},
    RuleEntry{"QLinearMatMul", qlinear_matmul},
    RuleEntry{"com.microsoft.DynamicQuantizeMatMul", matmul_integer_to_float},
    RuleEntry{"com.microsoft.FusedGemm", gemm},
    RuleEntry{"com.microsoft.FusedMatMul", fused_matmul},
    RuleEntry{"com.microsoft.FusedMatMulActivation", fused_matmul},
    RuleEntry{"com.microsoft.GemmFastGelu", gemm_gelu},
    RuleEntry{"com.microsoft.GemmFloat8", gemm},
    RuleEntry{"com.microsoft.MatMulBnb4", matmul_nbits},
    RuleEntry{"com.microsoft.MatMulFpQ4", matmul_nbits},
    RuleEntry{"com.microsoft.MatMulInteger16", matmul},
    RuleEntry{"com.microsoft.MatMulIntegerToFloat", matmul_integer_to_float},
    RuleEntry{"com.microsoft.MatMulNBits", matmul_nbits},
    RuleEntry{"Inverse", inverse},
    RuleEntry{"com.microsoft.CDist", distances},
    RuleEntry{"com.microsoft.Inverse", inverse},
    RuleEntry{"com.microsoft.QGemm", quantized_gemm},
    RuleEntry{"com.microsoft.QOrderedMatMul", ordered_matmul},
    RuleEntry{"com.microsoft.SparseToDenseMatMul", fused_matmul},
    RuleEntry{"com.microsoft.TransposeMatMul", fused_matmul},
};

}  // namespace

std::optional<Shape> matmul_shape(Node& node, const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) {
    node.error("onnx-rank", "multiplies a scalar");
    return std::nullopt;
  }
  const Shape left = as_matrix(a, true, node.pool());
  const Shape right = as_matrix(b, false, node.pool());
  const Expr k = left.back();
  const Expr other = right[right.size() - 2];
  if (disagree(k, other)) {
    node.error("onnx-shape",
               fmt::format("multiplies {} columns with {} rows", k.constant(), other.constant()));
    return std::nullopt;
  }
  auto result = broadcast(leading(left), leading(right));
  if (!result) {
    node.error("onnx-shape", "the leading dimensions do not broadcast");
    return std::nullopt;
  }
  if (a.size() > 1) {
    result->push_back(left[left.size() - 2]);
  }
  if (b.size() > 1) {
    result->push_back(right.back());
  }
  return result;
}

void emit_matmul(const Node& node, const Matmul& m, ValueId output) {
  ir::ExprPool& pool = node.pool();
  const Importer& importer = node.importer();
  const Shape left = as_matrix(m.a_shape, true, pool);
  const Shape right = as_matrix(m.b_shape, false, pool);
  const Expr k = left.back().is_constant() ? left.back() : right[right.size() - 2];
  const bool left_is_weight = importer.value(m.a).is_constant && !importer.value(m.b).is_constant;
  const bool left_is_shared =
      is_number(elements(pool, leading(left)), 1) && !is_number(elements(pool, leading(right)), 1);
  if (left_is_weight || left_is_shared) {
    emit_product(node, m, m.b, m.a, leading(left), left[left.size() - 2], k, output);
  } else {
    emit_product(node, m, m.a, m.b, leading(right), right.back(), k, output);
  }
}

bool add_bias_to_matmul(Node& node, ValueId value, ValueId bias) {
  Importer& importer = node.importer();
  const Value& written = importer.value(value);
  if (importer.is_silent() || !written.tensor || !importer.value(bias).is_constant) {
    return importer.is_silent();
  }
  std::vector<ir::Op>& ops = importer.graph().ops();
  for (std::size_t i = ops.size(); i-- > 0;) {
    ir::Op& op = ops[i];
    if (op.def->name == "matmul" && op.operands[2] == written.tensor) {
      if (op.operands[3]) {
        return false;
      }
      const ir::TensorId added = importer.tensor(bias, true);
      op.operands[3] = added;
      op.dims.insert_or_assign("bias", importer.pool().constant(1));
      return true;
    }
    for (const ir::OperandUse& use : ir::uses_of(op)) {
      if (use.tensor == *written.tensor) {
        return false;  // Something reads or writes it in between.
      }
    }
  }
  return false;
}

std::span<const RuleEntry> contraction_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
