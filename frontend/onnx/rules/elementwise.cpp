#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/types.hpp"

namespace mansard::frontend::onnx {
namespace {

constexpr std::size_t kMostContent = 4096;

struct Function {
  std::string_view type;
  Cost cost;
};

/// Arithmetic and special operations (exp, log, tanh, erf, roots, quotients of one) per element.
constexpr std::array kUnary = {
    Function{"Abs", {1, 0, "abs"}},
    Function{"Acos", {0, 1, "acos"}},
    Function{"Acosh", {0, 1, "acosh"}},
    Function{"Asin", {0, 1, "asin"}},
    Function{"Asinh", {0, 1, "asinh"}},
    Function{"Atan", {0, 1, "atan"}},
    Function{"Atanh", {0, 1, "atanh"}},
    Function{"BitwiseNot", {1, 0, "not"}},
    Function{"Ceil", {1, 0, "ceil"}},
    Function{"Celu", {3, 1, "celu"}},
    Function{"Cos", {0, 1, "cos"}},
    Function{"Cosh", {0, 1, "cosh"}},
    Function{"Elu", {2, 1, "elu"}},
    Function{"Erf", {0, 1, "erf"}},
    Function{"Exp", {0, 1, "exp"}},
    Function{"Floor", {1, 0, "floor"}},
    Function{"HardSigmoid", {3, 0, "hard_sigmoid"}},
    Function{"HardSwish", {4, 0, "hard_swish"}},
    Function{"LeakyRelu", {2, 0, "leaky_relu"}},
    Function{"Log", {0, 1, "log"}},
    Function{"Mish", {2, 3, "mish"}},
    Function{"Neg", {1, 0, "neg"}},
    Function{"Reciprocal", {0, 1, "reciprocal"}},
    Function{"Relu", {1, 0, "relu"}},
    Function{"Round", {1, 0, "round"}},
    Function{"Selu", {3, 1, "selu"}},
    Function{"Shrink", {2, 0, "shrink"}},
    Function{"Sigmoid", {2, 1, "sigmoid"}},
    Function{"Sign", {1, 0, "sign"}},
    Function{"Sin", {0, 1, "sin"}},
    Function{"Sinh", {0, 1, "sinh"}},
    Function{"Softplus", {1, 2, "softplus"}},
    Function{"Softsign", {2, 0, "softsign"}},
    Function{"Sqrt", {0, 1, "sqrt"}},
    Function{"Swish", {2, 1, "silu"}},
    Function{"Tan", {0, 1, "tan"}},
    Function{"Tanh", {0, 1, "tanh"}},
    Function{"ThresholdedRelu", {1, 0, "relu"}},
    Function{"com.microsoft.SampleOp", {1, 0, "identity"}},
    Function{"com.microsoft.QuickGelu", {3, 1, "quick_gelu"}},
};

constexpr std::array kPredicate = {
    Function{"And", {1, 0, "and"}},         Function{"Equal", {1, 0, "equal"}},
    Function{"Greater", {1, 0, "greater"}}, Function{"GreaterOrEqual", {1, 0, "greater_or_equal"}},
    Function{"IsInf", {1, 0, "is_inf"}},    Function{"IsNaN", {1, 0, "is_nan"}},
    Function{"Less", {1, 0, "less"}},       Function{"LessOrEqual", {1, 0, "less_or_equal"}},
    Function{"Not", {1, 0, "not"}},         Function{"Or", {1, 0, "or"}},
    Function{"Xor", {1, 0, "xor"}},
};

/// Two inputs and more, broadcast; Mean also divides.
constexpr std::array kBroadcast = {
    Function{"Add", {1, 0, "add"}},        Function{"BitShift", {1, 0, "shift"}},
    Function{"BitwiseAnd", {1, 0, "and"}}, Function{"BitwiseOr", {1, 0, "or"}},
    Function{"BitwiseXor", {1, 0, "xor"}}, Function{"Div", {1, 0, "div"}},
    Function{"Max", {1, 0, "max"}},        Function{"Mean", {1, 0, "mean"}},
    Function{"Min", {1, 0, "min"}},        Function{"Mod", {1, 0, "mod"}},
    Function{"Mul", {1, 0, "mul"}},        Function{"PRelu", {2, 0, "prelu"}},
    Function{"Pow", {0, 1, "pow"}},        Function{"Sub", {1, 0, "sub"}},
    Function{"Sum", {1, 0, "add"}},
};

template <typename Table>
const Cost& cost_of(const Table& table, const Node& node) {
  return std::ranges::find(table, node.full_type(), &Function::type)->cost;
}

/// f of one number, where shapes are computed with it.
Expr folded(const std::string& f, Expr a) {
  if (!a) {
    return {};
  }
  ir::ExprPool& pool = a.pool();
  if (f == "Neg") {
    return canonical(0 - a);
  }
  if (!a.is_constant()) {
    const bool keeps = f == "Abs" || f == "Floor" || f == "Ceil" || f == "Round";
    // Extents are whole and not negative.
    return keeps && a->kind == ir::ExprKind::kSymbol ? a : Expr();
  }
  const double x = a.constant();
  const auto number = [&](double y) { return std::isfinite(y) ? pool.constant(y) : Expr(); };
  return f == "Abs"          ? number(std::abs(x))
         : f == "Floor"      ? number(std::floor(x))
         : f == "Ceil"       ? number(std::ceil(x))
         : f == "Round"      ? number(std::nearbyint(x))
         : f == "Sqrt"       ? number(std::sqrt(x))
         : f == "Not"        ? number(x == 0 ? 1 : 0)
         : f == "Reciprocal" ? number(1 / x)
                             : Expr();
}

/// Whether an extent can be that constant: none is negative.
bool may_equal(Expr symbolic, double constant) {
  return symbolic->kind != ir::ExprKind::kSymbol || constant >= 0;
}

Expr compared(const std::string& f, Expr a, Expr b) {
  ir::ExprPool& pool = a.pool();
  const auto truth = [&](bool x) { return pool.constant(x ? 1 : 0); };
  const Expr gap = difference(a, b);
  if (gap.is_constant()) {
    const double x = gap.constant();
    return truth(f == "Equal"         ? x == 0
                 : f == "Less"        ? x < 0
                 : f == "LessOrEqual" ? x <= 0
                 : f == "Greater"     ? x > 0
                                      : x >= 0);
  }
  if (f == "Equal" && ((b.is_constant() && !may_equal(a, b.constant())) ||
                       (a.is_constant() && !may_equal(b, a.constant())))) {
    return truth(false);
  }
  return {};
}

Expr folded(const std::string& f, int type, Expr a, Expr b) {
  if (!a || !b) {
    return {};
  }
  ir::ExprPool& pool = a.pool();
  const bool constants = a.is_constant() && b.is_constant();
  if (f == "Add" || f == "Sum") {
    return sum(a, b);
  }
  if (f == "Sub") {
    return difference(a, b);
  }
  if (f == "Mul") {
    return product(a, b);
  }
  if (f == "Div") {
    if (is_number(b, 0)) {
      return {};
    }
    if (constants) {
      const double x = a.constant() / b.constant();
      return pool.constant(is_float(type) ? x : std::trunc(x));
    }
    return is_float(type) ? canonical(a / b) : quotient(a, b);
  }
  if (f == "Mod" && !is_number(b, 0) && (!b.is_constant() || b.constant() > 0)) {
    return ir::mod(a, b);
  }
  if (f == "Min" || f == "Max") {
    return f == "Min" ? ir::min(a, b) : ir::max(a, b);
  }
  if (f == "Pow" && constants) {
    const double x = std::pow(a.constant(), b.constant());
    return std::isfinite(x) ? pool.constant(x) : Expr();
  }
  if (f == "And" || f == "Or") {
    const bool is_and = f == "And";
    return constants ? pool.constant(is_and ? (a.constant() != 0 && b.constant() != 0)
                                            : (a.constant() != 0 || b.constant() != 0))
                     : Expr();
  }
  if (f == "Equal" || f.starts_with("Less") || f.starts_with("Greater")) {
    return compared(f, a, b);
  }
  return {};
}

/// The element of a small tensor that another shape's position broadcasts to.
Expr element(const Value& value, const Shape& output, std::size_t position) {
  const std::vector<Expr>& content = *value.content;
  if (content.size() == 1) {
    return content.front();
  }
  // Only tensors that have the output's shape, or one number, take part in shapes.
  return value.shape->size() <= output.size() && position < content.size() ? content[position]
                                                                           : Expr();
}

Content folded_inputs(const Node& node, const Shape& output) {
  const Expr count = elements(node.pool(), output);
  if (!count.is_constant() || count.constant() > static_cast<double>(kMostContent)) {
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(count.constant());
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    const bool known = node.has(i) && node.in(i).content &&
                       (node.in(i).content->size() == 1 || node.in(i).content->size() == size);
    if (!known) {
      return std::nullopt;
    }
  }
  std::vector<Expr> result;
  for (std::size_t at = 0; at < size; ++at) {
    Expr value = element(node.in(0), output, at);
    if (node.inputs() == 1) {
      value = folded(node.type(), value);
    }
    for (std::size_t i = 1; i < node.inputs(); ++i) {
      value = folded(node.type(), node.in(i).type, value, element(node.in(i), output, at));
    }
    result.push_back(value);
  }
  return result;
}

std::vector<std::size_t> all_inputs(const Node& node) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.has(i)) {
      result.push_back(i);
    }
  }
  return result;
}

void unary(Node& node) {
  if (needs_inputs(node, 1)) {
    elementwise(node, {0}, node.in(0).type, cost_of(kUnary, node),
                folded_inputs(node, node.shape(0)));
  }
}

void broadcasting(Node& node, int type, Cost cost) {
  const std::vector<std::size_t> inputs = all_inputs(node);
  const auto shape = broadcast_inputs(node, inputs);
  if (!shape || inputs.empty()) {
    return;
  }
  if (inputs.size() > 2) {
    cost.arithmetic *= static_cast<double>(inputs.size() - 1);
  }
  cost.arithmetic += node.type() == "Mean" ? 1 : 0;
  elementwise(node, inputs, type, cost, folded_inputs(node, *shape));
}

void predicate(Node& node) {
  if (needs_inputs(node, 1)) {
    broadcasting(node, pb::TensorProto::BOOL, cost_of(kPredicate, node));
  }
}

void broadcast_function(Node& node) {
  if (needs_inputs(node, 1)) {
    broadcasting(node, node.in(0).type, cost_of(kBroadcast, node));
  }
}

/// Bounds that are inputs are scalars.
void clip(Node& node) {
  if (needs_inputs(node, 1)) {
    Content content;
    if (const auto bounded = node.content(0)) {
      content = bounded;
    }
    elementwise(node, {0}, node.in(0).type, {.arithmetic = 2, .function = "clip"}, content);
  }
}

void where(Node& node) {
  if (!needs_inputs(node, 3)) {
    return;
  }
  const auto shape = broadcast_inputs(node, {0, 1, 2});
  if (!shape) {
    return;
  }
  Content content;
  const Expr count = elements(node.pool(), *shape);
  if (node.in(0).content && node.in(1).content && node.in(2).content && count.is_constant() &&
      count.constant() <= static_cast<double>(kMostContent)) {
    content.emplace();
    for (std::size_t at = 0; at < static_cast<std::size_t>(count.constant()); ++at) {
      const Expr condition = element(node.in(0), *shape, at);
      const bool known = condition && condition.is_constant();
      content->push_back(!known ? Expr()
                                : element(node.in(condition.constant() != 0 ? 1 : 2), *shape, at));
    }
  }
  elementwise(node, {0, 1, 2}, node.in(1).type, {.arithmetic = 1, .function = "where"}, content);
}

/// Between formats; of small integers nothing moves.
void cast(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const int type = node.type() == "CastLike" && node.has(1)
                       ? node.in(1).type
                       : static_cast<int>(node.integer("to", pb::TensorProto::FLOAT));
  if (!is_known_type(type)) {
    node.error("onnx-type", fmt::format("to element type {}, which ONNX does not have", type));
    return;
  }
  Content content = node.in(0).content;
  if (content && is_integer(type)) {
    for (Expr& e : *content) {
      e = e && e.is_constant() ? node.number(std::trunc(e.constant())) : e;
    }
  }
  if (dtype_of(type) == dtype_of(node.in(0).type) && node.in(0).tensor) {
    const ValueId id = node.view(0, 0, node.shape(0));
    node.importer().value(id).type = type;
    return;
  }
  elementwise(node, {0}, type, {.arithmetic = 1, .function = "cast"}, std::move(content));
}

void gelu(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const bool tanh = node.type() == "FastGelu" || node.text("approximate", "none") == "tanh";
  Cost cost = tanh ? Cost{8, 1, "gelu_new"} : Cost{4, 1, "gelu"};
  if (node.has(1)) {
    if (add_bias_to_matmul(node, node.id(0), node.id(1))) {
      elementwise(node, {0}, node.in(0).type, cost);
      return;
    }
    cost.arithmetic += 1;
    elementwise(node, {0, 1}, node.in(0).type, cost);
    return;
  }
  elementwise(node, {0}, node.in(0).type, cost);
}

void bias_split_gelu(Node& node) {
  if (!needs_inputs(node, 2) || node.rank(0) == 0) {
    return;
  }
  Shape shape = node.shape(0);
  shape.back() = quotient(shape.back(), node.number(2));
  const ValueId output = node.set(0, node.in(0).type, shape);
  emit_elementwise(node, {node.id(0), node.id(1)}, output, {7, 1, "gelu_mul"});
}

/// A bias and perhaps a residual; a dropout's rate behind them does nothing at inference.
void bias_add(Node& node) {
  if (needs_inputs(node, 2)) {
    const std::vector<std::size_t> inputs =
        node.has(2) ? std::vector<std::size_t>{0, 1, 2} : std::vector<std::size_t>{0, 1};
    elementwise(node, inputs, node.in(0).type, {static_cast<double>(inputs.size() - 1), 0, "add"});
    if (node.wants(1)) {
      node.set(1, pb::TensorProto::BOOL, node.shape(0));
    }
  }
}

/// Masks of dropout in bits, 32 a word.
void bitmask_dropout(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  if (node.type() == "BitmaskBiasDropout") {
    bias_add(node);
  } else {
    node.view(0, 0, node.shape(0));
  }
  if (node.wants(1)) {
    node.set(1, pb::TensorProto::UINT32, Shape{ir::ceil_div(node.elements(0), 32)});
  }
}

/// Pairs of real and imaginary part: 6 operations for two numbers.
void complex_multiply(Node& node) {
  if (needs_inputs(node, 2)) {
    elementwise(node, {0, 1}, node.in(0).type, {3, 0, "complex_mul"});
  }
}

/// Rotations, multiplications and exclusive ors of four bytes (MurmurHash3_x86_32: 5 a word, 8 at
/// the end).
void hash(Node& node) {
  if (needs_inputs(node, 1)) {
    const bool positive = node.integer("positive", 1) != 0;
    elementwise(node, {0}, positive ? pb::TensorProto::UINT32 : pb::TensorProto::INT32,
                {13, 0, "murmur_hash"});
  }
}

void repeat_block(Node& node) {
  if (needs_inputs(node, 2)) {
    elementwise(node, {1}, node.in(1).type, {1, 0, "ngram_repeat_block"});
  }
}

/// The same tensor: what inference does not change.
void identity(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const Value source = node.in(0);
  if (source.shape) {
    const ValueId id = node.view(0, 0, node.shape(0));
    node.importer().value(id).is_constant = source.is_constant;
    node.importer().value(id).root = source.root;
  } else {
    node.set(0, source.type, std::nullopt);
  }
  node.importer().value(*node.results()[0]).is_sequence = source.is_sequence;
  if (node.wants(1) && source.shape) {
    node.set(1, pb::TensorProto::BOOL, node.shape(0));  // Dropout's mask: all kept.
  }
}

/// The same bits as another type of the same width: nothing moves.
void bit_cast(Node& node) {
  const int type = static_cast<int>(node.integer("to", 0));
  if (!needs_inputs(node, 1)) {
    return;
  }
  if (!is_known_type(type)) {
    node.error("onnx-type", fmt::format("to element type {}, which ONNX does not have", type));
    return;
  }
  Value& seen = node.importer().value(node.view(0, 0, node.shape(0)));
  seen.type = type;
  seen.content.reset();
}

constexpr std::array kSpecial = {
    RuleEntry{"BitCast", bit_cast},
    RuleEntry{"Cast", cast},
    RuleEntry{"CastLike", cast},
    RuleEntry{"Clip", clip},
    RuleEntry{"Dropout", identity},
    RuleEntry{"Gelu", gelu},
    RuleEntry{"Identity", identity, true},
    RuleEntry{"Where", where},
    RuleEntry{"com.microsoft.BiasAdd", bias_add},
    RuleEntry{"com.microsoft.BiasDropout", bias_add},
    RuleEntry{"com.microsoft.BiasGelu", gelu},
    RuleEntry{"com.microsoft.BiasSplitGelu", bias_split_gelu},
    RuleEntry{"com.microsoft.FastGelu", gelu},
    RuleEntry{"com.microsoft.Gelu", gelu},
    RuleEntry{"com.microsoft.BitmaskBiasDropout", bitmask_dropout},
    RuleEntry{"com.microsoft.BitmaskDropout", bitmask_dropout},
    RuleEntry{"com.microsoft.ComplexMul", complex_multiply},
    RuleEntry{"com.microsoft.ComplexMulConj", complex_multiply},
    RuleEntry{"com.microsoft.MurmurHash3", hash},
    RuleEntry{"com.microsoft.NGramRepeatBlock", repeat_block},
};

std::vector<RuleEntry> table() {
  std::vector<RuleEntry> result(kSpecial.begin(), kSpecial.end());
  const auto add = [&](const auto& functions, Rule rule) {
    for (const Function& function : functions) {
      result.push_back({function.type, rule});
    }
  };
  add(kUnary, unary);
  add(kPredicate, predicate);
  add(kBroadcast, broadcast_function);
  return result;
}

}  // namespace

std::vector<ValueId> present_inputs(const Node& node) {
  std::vector<ValueId> result;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.has(i)) {
      result.push_back(node.id(i));
    }
  }
  return result;
}

Expr number_or_unknown(const Node& node, std::size_t input, const std::string& what,
                       const std::string& meaning) {
  const auto content = node.content(input);
  return content && content->size() == 1 ? content->front() : node.unknown(what, meaning);
}

bool needs_inputs(Node& node, std::size_t least) {
  for (std::size_t i = 0; i < least; ++i) {
    if (!node.has(i)) {
      node.error("onnx-inputs", fmt::format("has no input {}, expected {}", i, least));
      return false;
    }
  }
  return true;
}

namespace {

/// Before opset 7 `axis` says where the second operand's extents stand in the first's; a slope of
/// PRelu stands at the channels.
Shape placed(const Node& node, std::size_t input) {
  Shape shape = node.shape(input);
  const bool old = node.opset() > 0 && node.opset() < 7;
  const bool slope = node.type() == "PRelu" && shape.size() == 1;
  if (!old || input != 1 || (!slope && node.integer("broadcast", 0) == 0)) {
    return shape;
  }
  const auto rank = static_cast<std::int64_t>(node.rank(0));
  const auto own = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis =
      slope ? std::min<std::int64_t>(1, rank - 1) : node.integer("axis", rank - own);
  const std::int64_t behind = rank - own - (axis < 0 ? axis + rank : axis);
  if (behind > 0 && behind <= rank) {
    shape.insert(shape.end(), static_cast<std::size_t>(behind), node.number(1));
  }
  return shape;
}

}  // namespace

std::optional<Shape> broadcast_inputs(Node& node, const std::vector<std::size_t>& inputs) {
  std::optional<Shape> result = Shape();
  for (const std::size_t i : inputs) {
    result = broadcast(*result, placed(node, i));
    if (!result) {
      node.error("onnx-shape", fmt::format("input {} does not broadcast with those before it", i));
      return std::nullopt;
    }
  }
  return result;
}

void emit_elementwise(const Node& node, const std::vector<ValueId>& values, ValueId output,
                      const Cost& cost, const std::string& suffix) {
  Importer& importer = node.importer();
  // Numbers that are known when the graph is loaded stand in the instructions.
  std::vector<ValueId> read;
  for (const ValueId id : values) {
    const Value& value = importer.value(id);
    const bool immediate =
        value.is_constant && is_number(elements(importer.pool(), value.shape.value_or(Shape())), 1);
    if (!immediate) {
      read.push_back(id);
    }
  }
  if (read.empty()) {
    read.push_back(values.front());
  }
  node.emit_many("elementwise", read, output,
                 {{"n", elements(importer.pool(), *importer.value(output).shape)},
                  {"a", node.number(cost.arithmetic)},
                  {"s", node.number(cost.special)}},
                 {{"function", std::string(cost.function)}}, suffix);
}

ValueId elementwise(Node& node, const std::vector<std::size_t>& inputs, int type, const Cost& cost,
                    Content content, std::size_t output) {
  auto shape = broadcast_inputs(node, inputs);
  if (!shape) {
    return node.set(output, type, std::nullopt);
  }
  std::vector<ValueId> values;
  for (const std::size_t i : inputs) {
    values.push_back(node.id(i));
  }
  const bool is_shape = content.has_value();
  const ValueId result = node.set(output, type, std::move(shape), std::move(content));
  if (!is_shape) {
    emit_elementwise(node, values, result, cost);
  }
  return result;
}

std::span<const RuleEntry> elementwise_rules() {
  static const std::vector<RuleEntry> rules = table();
  return rules;
}

}  // namespace mansard::frontend::onnx
