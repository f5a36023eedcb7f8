#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

constexpr double kLayerNorm = 5;  ///< Add, subtract, square, add, scale (ir/ops/norm.cpp).
constexpr double kRmsNorm = 3;

/// A norm over `columns` of x into `output`; gain and bias where they are.
struct NormSpec {
  ValueId x;
  Expr rows;
  Expr columns;
  double arithmetic = kLayerNorm;
  std::optional<ValueId> gain;
  std::optional<ValueId> bias;
  std::optional<ValueId> residual;
  std::string function;
  std::string suffix;
};

void emit_norm(const Node& node, const NormSpec& n, ValueId output) {
  Importer& importer = node.importer();
  const bool a_column =
      !n.gain || elements(node.pool(), *importer.value(*n.gain).shape) == n.columns;
  // Gains of channels (a group has several, each of many columns) are as many as channels: next to
  // nothing, and no operand of the kind.
  const double channels = a_column ? 0 : 1 + (n.bias ? 1 : 0);
  OpSpec spec{
      .kind = "norm",
      .dims = {{"r", n.rows}, {"c", n.columns}, {"a", node.number(n.arithmetic + channels)}},
      .operands = {{"x", n.x}, {"o", output}},
      .attributes = {{"norm", n.function}},
      .suffix = n.suffix};
  const auto add = [&](const char* dim, const char* operand, std::optional<ValueId> value,
                       bool is_weight) {
    if (value) {
      spec.dims.emplace_back(dim, node.number(1));
      spec.operands.push_back({operand, *value, is_weight});
    }
  };
  if (a_column) {
    add("w", "gain", n.gain, true);
    add("bias", "bias", n.bias, true);
  } else if (!importer.is_silent()) {
    for (const auto weight : {n.gain, n.bias}) {
      if (weight) {
        (void)importer.tensor(*weight, true);
      }
    }
  }
  add("residual", "residual", n.residual, false);
  node.emit(std::move(spec));
}

std::optional<ValueId> optional_input(const Node& node, std::size_t i) {
  return node.has(i) ? std::optional(node.id(i)) : std::nullopt;
}

/// Extents before and from `axis` on.
std::pair<Expr, Expr> split(const Node& node, const Shape& shape, std::size_t axis) {
  const std::span<const Expr> all(shape);
  return {elements(node.pool(), all.first(axis)), elements(node.pool(), all.subspan(axis))};
}

/// At inference a scale and a shift of each channel, made of four weights.
void batch_norm(Node& node) {
  if (!needs_inputs(node, 5)) {
    return;
  }
  const ValueId output = node.set(0, node.in(0).type, node.shape(0));
  node.emit_many("elementwise", {node.id(0), node.id(1), node.id(2), node.id(3), node.id(4)},
                 output, {{"n", node.elements(0)}, {"a", node.number(2)}},
                 {{"function", "batch_norm"}});
  // In training the statistics, too, come out.
  for (std::size_t i = 1; i < node.outputs(); ++i) {
    node.set(i, node.in(3).type, node.shape(3));
  }
  node.importer().mark_buffer(node.id(3));
  node.importer().mark_buffer(node.id(4));
  node.importer().mark_weight(node.id(1));
  node.importer().mark_weight(node.id(2));
}

void layer_norm(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto axis = node.axis(node.integer("axis", -1), node.rank(0));
  if (!axis) {
    return;
  }
  const bool rms = node.type() != "LayerNormalization";
  const auto [rows, columns] = split(node, node.shape(0), *axis);
  const ValueId output = node.set(0, node.in(0).type, node.shape(0));
  emit_norm(node,
            {.x = node.id(0),
             .rows = rows,
             .columns = columns,
             .arithmetic = rms ? kRmsNorm : kLayerNorm,
             .gain = optional_input(node, 1),
             .bias = rms ? std::nullopt : optional_input(node, 2),
             .function = rms ? "rmsnorm" : "layernorm"},
            output);
  Shape statistics = node.shape(0);
  for (std::size_t i = *axis; i < statistics.size(); ++i) {
    statistics[i] = node.number(1);
  }
  for (const std::size_t i : {1U, 2U}) {
    if (node.wants(i)) {
      node.set(i, pb::TensorProto::FLOAT, statistics);
    }
  }
}

/// x + skip (+ bias), normalised; the sum is the fourth output. Where x is a matmul's result the
/// bias is that matmul's.
void skip_norm(Node& node) {
  if (!needs_inputs(node, 2) || node.rank(0) == 0) {
    return;
  }
  const bool rms = node.type() == "SkipSimplifiedLayerNormalization";
  const std::size_t bias = rms ? 3 : 4;
  const int type = node.in(0).type;
  const Shape shape = node.shape(0);
  ValueId x = node.id(0);
  if (node.has(bias) && !add_bias_to_matmul(node, x, node.id(bias))) {
    const ValueId biased = node.between(type, shape);
    emit_elementwise(node, {x, node.id(bias)}, biased, {1, 0, "add"}, ".bias");
    x = biased;
  }
  ValueId skip = node.id(1);
  if (node.in(1).is_constant || node.elements(1) != node.elements(0)) {
    const ValueId sum = node.between(type, shape);
    emit_elementwise(node, {x, skip}, sum, {1, 0, "add"}, ".skip");
    x = sum;
  }
  const bool in_place =
      x == node.id(0) ||
      (x != node.id(0) && node.elements(1) == node.elements(0) && !node.in(1).is_constant);
  const ValueId output = node.set(0, type, shape);
  emit_norm(node,
            {.x = x,
             .rows = elements(node.pool(), std::span(shape).first(shape.size() - 1)),
             .columns = shape.back(),
             .arithmetic = rms ? kRmsNorm : kLayerNorm,
             .gain = optional_input(node, 2),
             .bias = rms ? std::nullopt : optional_input(node, 3),
             .residual = in_place ? std::optional(skip) : std::nullopt,
             .function = rms ? "rmsnorm" : "layernorm"},
            output);
  for (const std::size_t i : {1U, 2U}) {
    if (node.wants(i)) {
      node.set(i, pb::TensorProto::FLOAT, Shape(shape.begin(), shape.end() - 1));
    }
  }
  if (node.wants(3)) {
    node.view_of(3, in_place ? skip : x, shape);
  }
}

/// Of groups of channels, or of each (instance): rows are samples x groups.
void group_norm(Node& node) {
  if (!needs_inputs(node, 1) || node.rank(0) < 2) {
    return;
  }
  const Shape& shape = node.shape(0);
  const bool instance = node.type() == "InstanceNormalization";
  const std::int64_t given =
      node.integer(node.has_attribute("groups") ? "groups" : "num_groups", 1);
  const Expr groups =
      instance ? shape[1] : node.number(static_cast<double>(std::max<std::int64_t>(given, 1)));
  const Expr rows = product(shape[0], groups);
  const ValueId output = node.set(0, node.in(0).type, shape);
  ValueId x = node.id(0);
  if (node.type() == "SkipGroupNorm" && node.has(3)) {
    x = node.between(node.in(0).type, shape);
    emit_elementwise(node, {node.id(0), node.id(3)}, x, {1, 0, "add"}, ".skip");
    if (node.wants(1)) {
      node.view_of(1, x, shape);
    }
  }
  emit_norm(node,
            {.x = x,
             .rows = rows,
             .columns = quotient(node.elements(0), rows),
             .gain = optional_input(node, 1),
             .bias = optional_input(node, 2),
             .function = instance ? "instancenorm" : "groupnorm"},
            output);
}

/// Over all but some axes, without gain or bias.
void mean_variance_norm(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const bool lp = node.type() == "LpNormalization";
  std::vector<std::int64_t> axes = node.list("axes");
  if (lp) {
    axes = {node.integer("axis", -1)};
  } else if (axes.empty()) {
    axes = {0, 2, 3};
  }
  Expr columns = node.number(1);
  for (const std::int64_t a : axes) {
    const auto axis = node.axis(a, node.rank(0));
    if (!axis) {
      return;
    }
    columns = product(columns, node.shape(0)[*axis]);
  }
  const ValueId output = node.set(0, node.in(0).type, node.shape(0));
  emit_norm(node,
            {.x = node.id(0),
             .rows = quotient(node.elements(0), columns),
             .columns = columns,
             .arithmetic = lp ? kRmsNorm : kLayerNorm,
             .function = lp ? "rmsnorm" : "layernorm"},
            output);
}

/// Each element by the sum of squares of `size` neighbouring channels: x / (k + a s)^b.
void local_response_norm(Node& node) {
  if (needs_inputs(node, 1)) {
    const auto size = static_cast<double>(std::max<std::int64_t>(node.integer("size", 1), 1));
    elementwise(node, {0}, node.in(0).type,
                {.arithmetic = 2 * size + 3, .special = 1, .function = "lrn"});
  }
}

/// Sums of embeddings of tokens, positions and segments, normalised.
void embed_norm(Node& node) {
  if (!node.has(0) || !node.has(2) || node.rank(0) == 0 || node.rank(2) != 2) {
    node.error("onnx-inputs", "expected ids and a table of words of rank 2");
    return;
  }
  // The quantised one has scales behind its mask, and positions from 0.
  const bool quantized = node.type() == "QEmbedLayerNormalization";
  const int type = quantized ? static_cast<int>(pb::TensorProto::FLOAT) : node.in(2).type;
  const Expr columns = node.shape(2)[1];
  Shape shape = node.shape(0);
  shape.push_back(columns);
  const Expr tokens = node.elements(0);
  std::vector<ValueId> rows;
  const auto look_up = [&](std::size_t table, std::optional<std::size_t> ids, const char* suffix,
                           const char* index) {
    const ValueId row = node.between(type, shape);
    OpSpec spec{.kind = "embedding",
                .dims = {{"t", tokens}, {"c", columns}, {"n", node.shape(table)[0]}},
                .operands = {{"table", node.id(table), true}, {"o", row}},
                .attributes = {{"index", index}},
                .suffix = suffix};
    if (ids) {
      spec.operands.push_back({"ids", node.id(*ids)});
    }
    node.emit(std::move(spec));
    rows.push_back(row);
  };
  look_up(2, 0, ".tokens", "token");
  if (node.has(3) && node.rank(3) == 2) {
    look_up(3, !quantized && node.has(8) ? std::optional<std::size_t>(8) : std::nullopt,
            ".positions", "position");
  }
  if (node.has(4) && node.has(1) && node.rank(4) == 2) {
    look_up(4, 1, ".segments", "position");
  }
  const ValueId sum = node.between(type, shape);
  emit_elementwise(node, rows, sum, {static_cast<double>(rows.size() - 1), 0, "add"}, ".sum");
  const ValueId output = node.set(0, type, shape);
  emit_norm(node,
            {.x = sum,
             .rows = tokens,
             .columns = columns,
             .gain = optional_input(node, 5),
             .bias = optional_input(node, 6),
             .function = "layernorm",
             .suffix = ".norm"},
            output);
  if (node.wants(1)) {
    node.set(1, pb::TensorProto::INT32, Shape{node.shape(0)[0]});
  }
  if (node.wants(2)) {
    node.view_of(2, sum, shape);
  }
}

/// Normalised over as many columns as the gain has, then times silu of the gate.
void gated_norm(Node& node) {
  if (!needs_inputs(node, 3) || node.rank(1) != 1) {
    return;
  }
  const Expr columns = node.shape(1)[0];
  const ValueId normed = node.between(node.in(0).type, node.shape(0));
  emit_norm(node,
            {.x = node.id(0),
             .rows = quotient(node.elements(0), columns),
             .columns = columns,
             .arithmetic = kRmsNorm,
             .gain = node.id(1),
             .function = "rmsnorm"},
            normed);
  emit_elementwise(node, {normed, node.id(2)}, node.set(0, node.in(0).type, node.shape(0)),
                   {3, 1, "silu_mul"}, ".gate");
}

/// With a scale between x and the gain.
void ordered_norm(Node& node) {
  if (!needs_inputs(node, 3)) {
    return;
  }
  const auto axis = node.axis(node.integer("axis", -1), node.rank(0));
  if (axis) {
    const auto [rows, columns] = split(node, node.shape(0), *axis);
    emit_norm(node,
              {.x = node.id(0),
               .rows = rows,
               .columns = columns,
               .gain = optional_input(node, 2),
               .bias = optional_input(node, 3),
               .function = "layernorm"},
              node.set(0, node.in(0).type, node.shape(0)));
  }
}

/// A bias is added first; all axes from `axis` on are one row.
void bias_softmax(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  const auto axis = node.axis(node.integer("axis", 1), node.rank(0));
  if (!axis) {
    return;
  }
  const Shape& shape = node.shape(0);
  const ValueId biased = node.between(node.in(0).type, shape);
  emit_elementwise(node, {node.id(0), node.id(1)}, biased, {1, 0, "add"}, ".bias");
  const auto [rows, columns] = split(node, shape, *axis);
  node.emit({.kind = "softmax",
             .dims = {{"r", rows}, {"c", columns}},
             .operands = {{"x", biased}, {"o", node.set(0, node.in(0).type, shape)}}});
}

/// Before opset 13 all axes from `axis` on are one row; afterwards the axis alone is.
void softmax(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const Shape& shape = node.shape(0);
  const ValueId output = node.set(0, node.in(0).type, shape);
  if (shape.empty()) {
    return;
  }
  const bool flattens = node.opset() > 0 && node.opset() < 13;
  const auto axis =
      node.axis(node.integer("axis", flattens ? 1 : -1), std::max<std::size_t>(shape.size(), 1));
  if (!axis) {
    return;
  }
  const Expr columns = flattens ? split(node, shape, *axis).second : shape[*axis];
  node.emit({.kind = "softmax",
             .dims = {{"r", quotient(node.elements(0), columns)}, {"c", columns}},
             .operands = {{"x", node.id(0)}, {"o", output}}});
}

/// The greatest becomes 1, others 0.
void hardmax(Node& node) {
  if (needs_inputs(node, 1) &&
      node.axis(node.integer("axis", -1), std::max<std::size_t>(node.rank(0), 1))) {
    elementwise(node, {0}, node.in(0).type, {1, 0, "hardmax"});
  }
}

constexpr std::array kRules = {
    RuleEntry{"BatchNormalization", batch_norm},
    RuleEntry{"GroupNormalization", group_norm},
    RuleEntry{"Hardmax", hardmax},
    RuleEntry{"InstanceNormalization", group_norm},
    RuleEntry{"LRN", local_response_norm},
    RuleEntry{"LayerNormalization", layer_norm},
    RuleEntry{"LogSoftmax", softmax},
    RuleEntry{"LpNormalization", mean_variance_norm},
    RuleEntry{"MeanVarianceNormalization", mean_variance_norm},
    RuleEntry{"RMSNormalization", layer_norm},
    RuleEntry{"SimplifiedLayerNormalization", layer_norm},
    RuleEntry{"Softmax", softmax},
    RuleEntry{"SpatialBN", batch_norm},
    RuleEntry{"com.microsoft.BiasSoftmax", bias_softmax},
    RuleEntry{"com.microsoft.EmbedLayerNormalization", embed_norm},
    RuleEntry{"com.microsoft.GatedRMSNorm", gated_norm},
    RuleEntry{"com.microsoft.QEmbedLayerNormalization", embed_norm},
    RuleEntry{"com.microsoft.QOrderedLayerNormalization", ordered_norm},
    RuleEntry{"com.microsoft.GroupNorm", group_norm},
    RuleEntry{"com.microsoft.SimplifiedLayerNormalization", layer_norm},
    RuleEntry{"com.microsoft.SkipGroupNorm", group_norm},
    RuleEntry{"com.microsoft.SkipLayerNormalization", skip_norm},
    RuleEntry{"com.microsoft.SkipSimplifiedLayerNormalization", skip_norm},
};

}  // namespace

std::span<const RuleEntry> norm_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
