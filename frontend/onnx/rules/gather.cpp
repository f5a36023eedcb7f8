#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

/// Of a small tensor of numbers along its only axis.
Content gathered(const Node& node) {
  const auto indices = node.integers(1);
  if (!node.in(0).content || node.rank(0) != 1 || !indices) {
    return std::nullopt;
  }
  const auto size = static_cast<std::int64_t>(node.in(0).content->size());
  std::vector<Expr> result;
  for (std::int64_t at : *indices) {
    at = at < 0 ? at + size : at;
    result.push_back(at >= 0 && at < size ? (*node.in(0).content)[static_cast<std::size_t>(at)]
                                          : Expr());
  }
  return result;
}

/// Rows of a table of weights are an embedding.
void gather(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  const auto axis = node.axis(node.integer("axis", 0), node.rank(0));
  if (!axis) {
    return;
  }
  const Shape& data = node.shape(0);
  Shape shape(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(*axis));
  shape.insert(shape.end(), node.shape(1).begin(), node.shape(1).end());
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data.end());
  Content content = gathered(node);
  const bool known = content.has_value();
  const Expr count = elements(node.pool(), shape);
  const ValueId output = node.set(0, node.in(0).type, std::move(shape), std::move(content));
  if (known) {
    return;
  }
  if (node.in(0).is_constant && *axis == 0 && data.size() == 2 && !node.in(1).is_constant) {
    node.emit({.kind = "embedding",
               .dims = {{"t", node.elements(1)}, {"c", data[1]}, {"n", data[0]}},
               .operands = {{"table", node.id(0), true}, {"o", output}, {"ids", node.id(1)}}});
    return;
  }
  // What is gathered is read, no more than there is.
  const Expr all = node.elements(0);
  const Expr read = count.is_constant() && all.is_constant()
                        ? node.number(std::min(count.constant(), all.constant()))
                        : count;
  node.emit_many("move", {node.id(0), node.id(1)}, output, {{"n", count}, {"i", read}},
                 {{"function", "Gather"}});
}

void gather_elements(Node& node) {
  if (needs_inputs(node, 2)) {
    const ValueId output = node.set(0, node.in(0).type, node.shape(1));
    const Expr count = node.elements(1);
    node.emit_many("move", {node.id(0), node.id(1)}, output, {{"n", count}, {"i", count}},
                   {{"function", node.type()}});
  }
}

void gather_nd(Node& node) {
  if (!needs_inputs(node, 2) || node.rank(1) == 0) {
    return;
  }
  const Expr depth = node.shape(1).back();
  const auto batch =
      static_cast<std::size_t>(std::max<std::int64_t>(node.integer("batch_dims", 0), 0));
  if (!depth.is_constant() ||
      depth.constant() + static_cast<double>(batch) > static_cast<double>(node.rank(0))) {
    node.error("onnx-shape", "indices name more axes than the tensor has");
    return;
  }
  const auto used = static_cast<std::size_t>(depth.constant()) + batch;
  Shape shape(node.shape(1).begin(), node.shape(1).end() - 1);
  shape.insert(shape.end(), node.shape(0).begin() + static_cast<std::ptrdiff_t>(used),
               node.shape(0).end());
  const Expr count = elements(node.pool(), shape);
  const ValueId output = node.set(0, node.in(0).type, std::move(shape));
  node.emit_many("move", {node.id(0), node.id(1)}, output, {{"n", count}, {"i", count}},
                 {{"function", "GatherND"}});
}

/// Writes updates into a tensor: what they do not touch is copied, as the result is a new tensor.
void scatter(Node& node) {
  if (!needs_inputs(node, 3)) {
    return;
  }
  Content content;
  const auto indices = node.integers(1);
  if (node.in(0).content && node.rank(0) == 1 && indices && node.in(2).content &&
      node.in(2).content->size() == indices->size()) {
    content = node.in(0).content;
    for (std::size_t i = 0; i < indices->size(); ++i) {
      const auto size = static_cast<std::int64_t>(content->size());
      const std::int64_t at = (*indices)[i] < 0 ? (*indices)[i] + size : (*indices)[i];
      if (at >= 0 && at < size) {
        (*content)[static_cast<std::size_t>(at)] = (*node.in(2).content)[i];
      }
    }
  }
  const bool known = content.has_value();
  const ValueId output = node.set(0, node.in(0).type, node.shape(0), std::move(content));
  if (known) {
    return;
  }
  const std::string reduction = node.text("reduction", "none");
  if (reduction == "none") {
    node.emit_move({node.id(0), node.id(1), node.id(2)}, output);
    return;
  }
  // The tensor is copied, then each update is joined to what stands there.
  const ValueId copy = node.between(node.in(0).type, node.shape(0));
  node.emit_many("move", {node.id(0)}, copy, {{"n", node.elements(0)}}, {{"function", node.type()}},
                 ".copy");
  const Expr updates = node.elements(2);
  node.emit_many("elementwise", {node.id(2), node.id(1), copy}, output,
                 {{"n", updates}, {"i", updates}, {"iz", updates}, {"a", node.number(1)}},
                 {{"function", reduction}});
}

void tensor_scatter(Node& node) {
  if (needs_inputs(node, 2)) {
    // The cache is updated in place: only what is new moves.
    const ValueId output = node.view(0, 0, node.shape(0));
    (void)output;
    const ValueId written = node.between(node.in(1).type, node.shape(1));
    node.emit_move({node.id(1)}, written);
  }
}

void one_hot(Node& node) {
  if (!needs_inputs(node, 3)) {
    return;
  }
  const auto depth = node.content(1);
  const std::size_t rank = node.rank(0) + 1;
  const auto axis = node.axis(node.integer("axis", -1), rank);
  if (!axis) {
    return;
  }
  Shape shape = node.shape(0);
  const Expr extent =
      depth && depth->size() == 1
          ? depth->front()
          : node.unknown(".depth", fmt::format("classes of OneHot '{}'", node.name()));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*axis), extent);
  node.emit_move({node.id(0)}, node.set(0, node.in(2).type, shape));
}

/// A gather of packed rows that are scaled on the way: several elements a byte along the last axis.
void gather_block_quantized(Node& node) {
  if (!needs_inputs(node, 3)) {
    return;
  }
  const auto axis = node.axis(node.integer("gather_axis", 0), node.rank(0));
  if (!axis) {
    return;
  }
  const std::int64_t bits = node.integer("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) {
    node.error("onnx-attribute", fmt::format("weights of {} bits, expected 2, 4 or 8", bits));
    return;
  }
  const bool packed = node.in(0).type == pb::TensorProto::UINT8;
  const Shape& data = node.shape(0);
  Shape shape(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(*axis));
  shape.insert(shape.end(), node.shape(1).begin(), node.shape(1).end());
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data.end());
  const Expr stored = elements(node.pool(), shape);
  if (packed && !shape.empty()) {
    shape.back() = product(shape.back(), node.number(8.0 / static_cast<double>(bits)));
  }
  node.emit_many("elementwise", {node.id(0), node.id(1)}, node.set(0, node.in(2).type, shape),
                 {{"n", elements(node.pool(), shape)}, {"i", stored}, {"a", node.number(1)}},
                 {{"function", "dequantize"}});
}

constexpr std::array kRules = {
    RuleEntry{"Gather", gather},
    RuleEntry{"GatherElements", gather_elements},
    RuleEntry{"GatherND", gather_nd},
    RuleEntry{"OneHot", one_hot},
    RuleEntry{"Scatter", scatter},
    RuleEntry{"ScatterElements", scatter},
    RuleEntry{"ScatterND", scatter},
    RuleEntry{"TensorScatter", tensor_scatter},
    RuleEntry{"com.microsoft.GatherBlockQuantized", gather_block_quantized},
    RuleEntry{"com.microsoft.GatherND", gather_nd},
    RuleEntry{"com.microsoft.TorchEmbedding", gather},
};

}  // namespace

std::span<const RuleEntry> gather_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
