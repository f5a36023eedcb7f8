#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/types.hpp"

namespace mansard::frontend::onnx {
namespace {

constexpr std::size_t kMostRank = 64;

void shape_of(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto rank = static_cast<std::int64_t>(node.rank(0));
  const auto clamped = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = clamped(node.integer("start", 0));
  const std::int64_t end = std::max(begin, clamped(node.integer("end", rank)));
  std::vector<Expr> content(node.shape(0).begin() + begin, node.shape(0).begin() + end);
  const Expr count = node.number(static_cast<double>(content.size()));
  node.set(0, pb::TensorProto::INT64, Shape{count}, std::move(content));
}

void size_of(Node& node) {
  if (needs_inputs(node, 1)) {
    node.set(0, pb::TensorProto::INT64, Shape(), std::vector<Expr>{node.elements(0)});
  }
}

/// An extent computed elsewhere; where it is not known, a symbol of its own.
Expr extent(Node& node, Expr given, std::size_t axis) {
  if (!given) {
    return node.unknown(fmt::format(".{}", axis), fmt::format("dimension {} of what {} '{}' makes",
                                                              axis, node.full_type(), node.name()));
  }
  if (given.is_constant() && given.constant() < 0) {
    node.error("onnx-shape", fmt::format("dimension {} is {}", axis, given.constant()));
    return node.number(1);
  }
  return given;
}

/// The rank that a shape tensor of unknown content gives, if its own extent is known.
std::optional<std::size_t> rank_from(const Node& node, std::size_t input) {
  if (node.rank(input) != 1 || !node.shape(input)[0].is_constant() ||
      node.shape(input)[0].constant() > static_cast<double>(kMostRank)) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(node.shape(input)[0].constant());
}

/// The elements of a shape tensor, absent ones for what is not known; nothing if not even the rank.
std::optional<std::vector<Expr>> target(const Node& node, std::size_t input) {
  if (node.has(input) && node.in(input).content) {
    return node.in(input).content;
  }
  if (const auto rank = node.has(input) ? rank_from(node, input) : std::nullopt) {
    return std::vector<Expr>(*rank);
  }
  return std::nullopt;
}

/// 0 copies an extent, -1 takes the rest.
void reshape(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  std::optional<std::vector<Expr>> wanted;
  if (node.has_attribute("shape")) {
    wanted.emplace();
    for (const std::int64_t x : node.list("shape")) {
      wanted->push_back(node.number(static_cast<double>(x)));
    }
  } else {
    wanted = target(node, 1);
  }
  if (!wanted) {
    node.set(0, node.in(0).type, std::nullopt);
    return;
  }
  const bool copies = node.integer("allowzero", 0) == 0;
  Shape shape;
  std::optional<std::size_t> rest;
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    const Expr given = (*wanted)[i];
    if (is_number(given, -1)) {
      if (rest) {
        node.error("onnx-shape", "two extents of the new shape are -1");
        return;
      }
      rest = i;
      shape.push_back(node.number(1));
    } else if (is_number(given, 0) && copies) {
      if (i >= node.rank(0)) {
        node.error("onnx-shape",
                   fmt::format("copies extent {} of a tensor of rank {}", i, node.rank(0)));
        return;
      }
      shape.push_back(node.shape(0)[i]);
    } else {
      unknown += given ? 0 : 1;
      shape.push_back(given ? extent(node, given, i) : Expr());
    }
  }
  if (!rest && unknown == 1) {
    // One unknown extent follows from the others.
    const auto missing = std::ranges::find_if(shape, [](Expr e) { return !e; });
    rest = static_cast<std::size_t>(missing - shape.begin());
    shape[*rest] = node.number(1);
    unknown = 0;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i] = shape[i] ? shape[i] : extent(node, {}, i);
  }
  const Expr all = node.elements(0);
  const Expr others = elements(node.pool(), shape);
  if (rest) {
    if (is_number(others, 0)) {
      node.error("onnx-shape", "an extent of the new shape is -1 beside one of 0");
      return;
    }
    if (all.is_constant() && others.is_constant() &&
        std::fmod(all.constant(), others.constant()) != 0) {
      node.error("onnx-shape", fmt::format("{} elements are no multiple of {}", all.constant(),
                                           others.constant()));
      return;
    }
    shape[*rest] = quotient(all, others);
  } else if (all.is_constant() && others.is_constant() && all != others) {
    node.error("onnx-shape",
               fmt::format("{} elements become {}", all.constant(), others.constant()));
    return;
  }
  node.view(0, 0, std::move(shape));
}

void flatten(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto rank = static_cast<std::int64_t>(node.rank(0));
  std::int64_t axis = node.integer("axis", 1);
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis > rank) {
    node.error("onnx-axis", fmt::format("axis {} of a tensor of rank {}", axis, rank));
    return;
  }
  const std::span<const Expr> all(node.shape(0));
  const auto cut = static_cast<std::size_t>(axis);
  node.view(0, 0,
            Shape{elements(node.pool(), all.first(cut)), elements(node.pool(), all.subspan(cut))});
}

/// Axes of an attribute or, in later opsets, of input 1.
std::optional<std::set<std::size_t>> axes_of(Node& node, std::size_t rank, bool* given) {
  const auto list = node.list_or_input("axes", 1);
  *given = node.has_attribute("axes") || node.has(1);
  std::set<std::size_t> result;
  for (const std::int64_t a : list.value_or(std::vector<std::int64_t>())) {
    const auto axis = node.axis(a, rank);
    if (!axis) {
      return std::nullopt;
    }
    result.insert(*axis);
  }
  return result;
}

void squeeze(Node& node) {
  bool given = false;
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto axes = axes_of(node, node.rank(0), &given);
  if (!axes) {
    return;
  }
  Shape shape;
  for (std::size_t i = 0; i < node.rank(0); ++i) {
    const Expr e = node.shape(0)[i];
    const bool goes = given ? axes->contains(i) : is_number(e, 1);
    if (!goes) {
      shape.push_back(e);
    } else if (e.is_constant() && e.constant() != 1) {
      node.error("onnx-shape", fmt::format("takes away axis {} of extent {}", i, e.constant()));
      return;
    }
  }
  node.view(0, 0, std::move(shape));
}

void unsqueeze(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto list = node.list_or_input("axes", 1);
  if (!list) {
    node.set(0, node.in(0).type, std::nullopt);
    return;
  }
  if (list->size() > kMostRank) {
    node.error("onnx-axis", fmt::format("adds {} axes", list->size()));
    return;
  }
  bool given = false;
  const std::size_t rank = node.rank(0) + list->size();
  const auto axes = rank > kMostRank ? std::nullopt : axes_of(node, rank, &given);
  if (!axes || axes->size() != list->size()) {
    if (!node.failed()) {
      node.error("onnx-axis", "adds an axis twice");
    }
    return;
  }
  Shape shape;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    shape.push_back(axes->contains(i) ? node.number(1) : node.shape(0)[next++]);
  }
  node.view(0, 0, std::move(shape));
}

void expand(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  const auto wanted = target(node, 1);
  if (!wanted) {
    node.set(0, node.in(0).type, std::nullopt);
    return;
  }
  Shape shape;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    const std::size_t back = wanted->size() - i;
    const bool covered = back <= node.rank(0);
    const Expr own = covered ? node.shape(0)[node.rank(0) - back] : Expr();
    // An unknown extent is that of the input, unless that is 1.
    const Expr given = (*wanted)[i];
    shape.push_back(!given && covered && !is_number(own, 1) ? own : extent(node, given, i));
  }
  const auto both = broadcast(node.shape(0), shape);
  if (!both) {
    node.error("onnx-shape", "the input does not broadcast to the shape it is expanded to");
    return;
  }
  Content content;
  const Expr count = elements(node.pool(), *both);
  if (node.in(0).content && node.in(0).content->size() == 1 && count.is_constant() &&
      count.constant() <= 64) {
    content =
        std::vector<Expr>(static_cast<std::size_t>(count.constant()), node.in(0).content->front());
  }
  if (elements(node.pool(), *both) == node.elements(0)) {
    node.view(0, 0, *both);
    return;
  }
  const bool known = content.has_value();
  const ValueId output = node.set(0, node.in(0).type, *both, std::move(content));
  if (!known) {
    node.emit_move({node.id(0)}, output);
  }
}

/// The value of an attribute: a tensor, a number or a list.
void constant(Node& node) {
  const auto numbers = [&](int type, const std::vector<double>& values, bool scalar) {
    std::vector<Expr> content;
    for (const double value : values) {
      content.push_back(std::isfinite(value) ? node.number(value) : Expr());
    }
    const ValueId id =
        node.set(0, type, scalar ? Shape() : Shape{node.number(static_cast<double>(values.size()))},
                 std::move(content));
    Value& value = node.importer().value(id);
    value.is_constant = true;
    std::vector<std::int64_t> dims;
    if (!scalar) {
      dims.push_back(static_cast<std::int64_t>(values.size()));
    }
    value.root = node.importer().add_root({.name = value.name, .type = type, .dims = dims});
  };
  if (const auto* value = node.attribute("value"); value != nullptr && value->has_t()) {
    const ValueId made =
        node.importer().constant(value->t(), node.scope().prefix + node.proto().output(0), false);
    const Value copy = node.importer().value(made);
    const ValueId id = node.set(0, copy.type, copy.shape, copy.content);
    node.importer().value(id).is_constant = true;
    node.importer().value(id).root = copy.root;
  } else if (node.has_attribute("value_int")) {
    numbers(pb::TensorProto::INT64, {static_cast<double>(node.integer("value_int", 0))}, true);
  } else if (node.has_attribute("value_float")) {
    numbers(pb::TensorProto::FLOAT, {node.real("value_float", 0)}, true);
  } else if (const auto* ints = node.attribute("value_ints")) {
    numbers(pb::TensorProto::INT64, {ints->ints().begin(), ints->ints().end()}, false);
  } else if (const auto* floats = node.attribute("value_floats")) {
    numbers(pb::TensorProto::FLOAT, {floats->floats().begin(), floats->floats().end()}, false);
  } else if (const auto* sparse = node.attribute("sparse_value")) {
    Shape shape;
    for (const std::int64_t dim : sparse->sparse_tensor().dims()) {
      shape.push_back(node.number(static_cast<double>(std::max<std::int64_t>(dim, 0))));
    }
    node.set(0, sparse->sparse_tensor().values().data_type(), shape);
  } else if (const auto* strings = node.attribute("value_strings")) {
    node.set(0, pb::TensorProto::STRING, Shape{node.number(strings->strings_size())});
  } else {
    node.set(0, pb::TensorProto::STRING, Shape());
  }
}

/// A weight whose elements are not stored; with a shape known only when the graph runs, a fill.
void constant_of_shape(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto wanted = target(node, 0);
  const auto* value = node.attribute("value");
  const int type =
      value != nullptr && value->has_t() ? value->t().data_type() : pb::TensorProto::FLOAT;
  if (!wanted) {
    node.set(0, type, std::nullopt);
    return;
  }
  Shape shape;
  std::vector<std::int64_t> dims;
  bool fixed = node.in(0).is_constant;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    shape.push_back(extent(node, (*wanted)[i], i));
    fixed = fixed && shape.back().is_constant();
    dims.push_back(fixed ? static_cast<std::int64_t>(shape.back().constant()) : 0);
  }
  const Expr count = elements(node.pool(), shape);
  Content content;
  Expr filled = node.number(0);
  if (value != nullptr && value->has_t()) {
    const ValueId made = node.importer().constant(value->t(), node.name() + ".value", false);
    const Content& one = node.importer().value(made).content;
    filled = one && one->size() == 1 ? one->front() : Expr();
  }
  if (count.is_constant() && count.constant() <= 64) {
    content = std::vector<Expr>(static_cast<std::size_t>(count.constant()), filled);
  }
  const bool known = content.has_value();
  const ValueId output = node.set(0, type, shape, std::move(content));
  if (fixed) {
    Value& made = node.importer().value(output);
    made.is_constant = true;
    made.root = node.importer().add_root({.name = made.name, .type = type, .dims = dims});
  } else if (!known) {
    node.emit({.kind = "move",
               .dims = {{"n", count}, {"i", node.number(0)}},
               .operands = {{"x", node.id(0)}, {"o", output}},
               .attributes = {{"function", "fill"}}});
  }
}

/// start, limit, delta.
void range(Node& node) {
  const bool has_delta = node.has(2) || node.full_type() == "Range";
  if (!needs_inputs(node, has_delta ? 3 : 2)) {
    return;
  }
  const auto one = [&](std::size_t i) {
    if (i == 2 && !has_delta) {
      return node.number(1);
    }
    const auto content = node.content(i);
    return content && content->size() == 1 ? content->front() : Expr();
  };
  const Expr start = one(0);
  const Expr limit = one(1);
  const Expr delta = one(2);
  Expr count;
  if (start && limit && delta && delta.is_constant() && delta.constant() != 0) {
    const Expr span = delta.constant() > 0 ? difference(limit, start) : difference(start, limit);
    const double step = std::abs(delta.constant());
    if (span.is_constant()) {
      count = node.number(std::max(0.0, std::ceil(span.constant() / step)));
    } else {
      count = step == 1 ? span : ir::ceil_div(span, step);
    }
  }
  if (!count) {
    count = node.unknown(".0", fmt::format("numbers that Range '{}' makes", node.name()));
  }
  Content content;
  if (count.is_constant() && count.constant() <= 256 && start.is_constant()) {
    content.emplace();
    for (double i = 0; i < count.constant(); ++i) {
      content->push_back(node.number(start.constant() + i * delta.constant()));
    }
  }
  const bool known = content.has_value();
  const ValueId output = node.set(0, node.in(0).type, Shape{count}, std::move(content));
  if (!known) {
    node.emit({.kind = "move",
               .dims = {{"n", count}, {"i", node.number(0)}},
               .operands = {{"x", node.id(0)}, {"o", output}},
               .attributes = {{"function", "fill"}}});
  }
}

constexpr std::array kRules = {
    RuleEntry{"Constant", constant, false, true},
    RuleEntry{"ConstantOfShape", constant_of_shape, false, true},
    RuleEntry{"Expand", expand},
    RuleEntry{"Flatten", flatten},
    RuleEntry{"Range", range},
    RuleEntry{"Reshape", reshape},
    RuleEntry{"Shape", shape_of},
    RuleEntry{"Size", size_of},
    RuleEntry{"Squeeze", squeeze},
    RuleEntry{"Unsqueeze", unsqueeze},
    RuleEntry{"com.microsoft.ExpandDims", unsqueeze},
    RuleEntry{"com.microsoft.Range", range},
};

}  // namespace

std::span<const RuleEntry> shape_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
