#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

/// More inputs than one op has operands are joined in parts.
void emit_concat(Node& node, const std::vector<ValueId>& values, ValueId output) {
  constexpr std::size_t kMost = 8;
  Importer& importer = node.importer();
  const auto count = [&](ValueId id) {
    return elements(importer.pool(), *importer.value(id).shape);
  };
  if (values.size() <= kMost) {
    node.emit_move(values, output);
    return;
  }
  std::optional<ValueId> before;
  for (std::size_t begin = 0; begin < values.size();) {
    const std::size_t room = before ? kMost - 1 : kMost;
    const std::size_t end = std::min(values.size(), begin + room);
    std::vector<ValueId> part(values.begin() + static_cast<std::ptrdiff_t>(begin),
                              values.begin() + static_cast<std::ptrdiff_t>(end));
    Expr written = node.number(0);
    for (const ValueId id : part) {
      written = sum(written, count(id));
    }
    std::vector<std::pair<std::string_view, Expr>> dims{{"n", written}};
    if (before) {
      // Reads nothing of it, but comes after it.
      constexpr std::array<std::string_view, 8> kDims = {"i",  "iy", "iz", "iu",
                                                         "iv", "iw", "ip", "iq"};
      dims.emplace_back(kDims.at(part.size()), node.number(0));
      part.push_back(*before);
    }
    const bool last = end == values.size();
    const ValueId made = last ? output : node.between(importer.value(output).type, Shape{written});
    node.emit_many("move", part, made, std::move(dims), {{"function", "Concat"}},
                   last ? "" : ".part");
    before = made;
    begin = end;
  }
}

void concat(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto axis = node.axis(node.integer("axis", 1), node.rank(0));
  if (!axis) {
    return;
  }
  Shape shape = node.shape(0);
  Content content = node.in(0).content;
  for (std::size_t i = 1; i < node.inputs(); ++i) {
    if (!node.has(i) || node.rank(i) != shape.size()) {
      node.error("onnx-rank", fmt::format("joins tensors of unlike rank ({} and {})", shape.size(),
                                          node.has(i) ? node.rank(i) : 0));
      return;
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Expr other = node.shape(i)[d];
      if (d == *axis) {
        shape[d] = sum(shape[d], other);
      } else if (shape[d].is_constant() && other.is_constant() && shape[d] != other) {
        node.error("onnx-shape",
                   fmt::format("joins along axis {}, but extents {} and {} of axis {} "
                               "differ",
                               *axis, shape[d].constant(), other.constant(), d));
        return;
      } else if (other.is_constant()) {
        shape[d] = other;
      }
    }
    if (content && node.in(i).content && shape.size() == 1) {
      content->insert(content->end(), node.in(i).content->begin(), node.in(i).content->end());
    } else if (content && shape.size() == 1 && node.shape(i)[0].is_constant() &&
               node.shape(i)[0].constant() <= 64) {
      content->resize(content->size() + static_cast<std::size_t>(node.shape(i)[0].constant()));
    } else {
      content.reset();
    }
  }
  const bool known = content.has_value() && shape.size() == 1;
  const ValueId output = node.set(0, node.in(0).type, shape, known ? content : std::nullopt);
  if (known) {
    return;
  }
  std::vector<ValueId> values;
  for (const ValueId id : present_inputs(node)) {
    if (!is_number(elements(node.pool(), *node.importer().value(id).shape), 0)) {
      values.push_back(id);
    }
  }
  if (!values.empty()) {
    emit_concat(node, values, output);
  }
}

/// Parts along an axis, each a copy.
void split(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto axis = node.axis(node.integer("axis", 0), node.rank(0));
  if (!axis) {
    return;
  }
  const Expr whole = node.shape(0)[*axis];
  std::vector<Expr> sizes;
  if (node.has_attribute("split")) {
    for (const std::int64_t size : node.list("split")) {
      sizes.push_back(node.number(static_cast<double>(size)));
    }
  } else if (node.has(1)) {
    sizes = node.in(1).content.value_or(std::vector<Expr>(node.outputs()));
  }
  if (sizes.empty()) {
    const auto parts = static_cast<double>(std::max<std::size_t>(node.outputs(), 1));
    const Expr each =
        whole.is_constant() ? ir::ceil_div(whole, parts) : quotient(whole, node.number(parts));
    sizes.assign(node.outputs(), each);
    if (!sizes.empty()) {
      sizes.back() = difference(whole, product(each, node.number(parts - 1)));
    }
  }
  if (sizes.size() != node.outputs()) {
    node.error("onnx-shape", fmt::format("{} sizes for {} outputs", sizes.size(), node.outputs()));
    return;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < node.outputs(); ++i) {
    Shape shape = node.shape(0);
    shape[*axis] = sizes[i] ? sizes[i]
                            : node.unknown(fmt::format(".part{}", i),
                                           fmt::format("part {} of Split '{}'", i, node.name()));
    if (shape[*axis].is_constant() && shape[*axis].constant() < 0) {
      node.error("onnx-shape", fmt::format("part {} has {} elements", i, shape[*axis].constant()));
      return;
    }
    Content content;
    if (node.in(0).content && node.rank(0) == 1 && shape[0].is_constant()) {
      const auto size = static_cast<std::size_t>(shape[0].constant());
      if (at + size <= node.in(0).content->size()) {
        content =
            std::vector<Expr>(node.in(0).content->begin() + static_cast<std::ptrdiff_t>(at),
                              node.in(0).content->begin() + static_cast<std::ptrdiff_t>(at + size));
        at += size;
      }
    }
    if (!node.wants(i)) {
      continue;
    }
    const bool known = content.has_value();
    const Expr count = elements(node.pool(), shape);
    const ValueId output = node.set(i, node.in(0).type, std::move(shape), std::move(content));
    if (!known) {
      node.emit_many("move", {node.id(0)}, output, {{"n", count}, {"i", count}},
                     {{"function", "Split"}}, fmt::format(".{}", i));
    }
  }
}

constexpr std::array kRules = {
    RuleEntry{"Concat", concat},
    RuleEntry{"Split", split},
};

}  // namespace

std::span<const RuleEntry> join_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
