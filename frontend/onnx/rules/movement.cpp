#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/types.hpp"

namespace mansard::frontend::onnx {
namespace {

constexpr std::int64_t kEnd = std::int64_t{1} << 52;  ///< Slices beyond it go to the end.

std::vector<ValueId> present_inputs(const Node& node) {
  std::vector<ValueId> result;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.has(i)) {
      result.push_back(node.id(i));
    }
  }
  return result;
}

void transpose(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  std::vector<std::int64_t> order = node.list("perm");
  const std::size_t rank = node.rank(0);
  if (order.empty()) {
    for (std::size_t i = rank; i-- > 0;) {
      order.push_back(static_cast<std::int64_t>(i));
    }
  }
  std::vector<std::int64_t> sorted = order;
  std::ranges::sort(sorted);
  bool permutes = sorted.size() == rank;
  for (std::size_t i = 0; permutes && i < rank; ++i) {
    permutes = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!permutes) {
    node.error("onnx-attribute",
               fmt::format("perm [{}] of a tensor of rank {}", fmt::join(order, ", "), rank));
    return;
  }
  Shape shape;
  for (const std::int64_t axis : order) {
    shape.push_back(node.shape(0)[static_cast<std::size_t>(axis)]);
  }
  // Moving extents of 1 moves nothing.
  std::vector<std::int64_t> real;
  for (const std::int64_t axis : order) {
    if (!is_number(node.shape(0)[static_cast<std::size_t>(axis)], 1)) {
      real.push_back(axis);
    }
  }
  if (std::ranges::is_sorted(real)) {
    node.view(0, 0, std::move(shape));
    return;
  }
  node.emit_move({node.id(0)}, node.set(0, node.in(0).type, std::move(shape)));
}

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

/// Starts, ends, axes and steps, attributes at first and inputs later.
struct Cut {
  std::vector<Expr> starts;
  std::vector<Expr> ends;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
};

std::optional<Cut> cut_of(const Node& node) {
  Cut cut;
  const auto numbers = [&](const std::vector<std::int64_t>& list) {
    std::vector<Expr> result;
    for (const std::int64_t x : list) {
      result.push_back(node.number(static_cast<double>(x)));
    }
    return result;
  };
  if (node.has_attribute("starts")) {
    cut.starts = numbers(node.list("starts"));
    cut.ends = numbers(node.list("ends"));
    cut.axes = node.list("axes");
  } else {
    const auto size = [&](std::size_t i) {
      const bool fixed =
          node.has(i) && node.in(i).shape && node.rank(i) == 1 && node.shape(i)[0].is_constant();
      return fixed ? std::min(node.shape(i)[0].constant(), 64.0) : 0.0;
    };
    const auto extents = [&](std::size_t i) {
      return node.has(i) && node.in(i).content
                 ? *node.in(i).content
                 : std::vector<Expr>(static_cast<std::size_t>(size(i)));
    };
    cut.starts = extents(1);
    cut.ends = extents(2);
    const auto axes = node.integers(3);
    if (node.has(3) && !axes) {
      return std::nullopt;
    }
    cut.axes = axes.value_or(std::vector<std::int64_t>());
    cut.steps = node.integers(4).value_or(std::vector<std::int64_t>());
  }
  if (cut.axes.empty()) {
    for (std::size_t i = 0; i < cut.starts.size(); ++i) {
      cut.axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  // Where the positions are computed elsewhere the axes still say which extents change.
  if (cut.starts.empty()) {
    cut.starts.resize(cut.axes.size());
  }
  if (cut.ends.empty()) {
    cut.ends.resize(cut.axes.size());
  }
  cut.steps.resize(cut.axes.size(), 1);
  const bool fits = cut.starts.size() == cut.axes.size() && cut.ends.size() == cut.axes.size();
  return fits ? std::optional(cut) : std::nullopt;
}

/// A position within [0, extent]: negative ones count from the end, those beyond it are the end.
Expr position(Expr at, Expr extent) {
  if (!at) {
    return {};
  }
  if (at.is_constant()) {
    const double x = at.constant();
    if (std::abs(x) >= static_cast<double>(kEnd)) {
      return x > 0 ? extent : extent.pool().constant(0);
    }
    if (extent.is_constant()) {
      const double moved = x < 0 ? x + extent.constant() : x;
      return extent.pool().constant(std::clamp(moved, 0.0, extent.constant()));
    }
    return x < 0 ? ir::max(canonical(extent + x), 0) : x == 0 ? at : ir::min(at, extent);
  }
  if (at == extent) {
    return at;
  }
  // 0 - n counts from the end.
  const Expr moved = sum(extent, at);
  const bool negative = at->kind == ir::ExprKind::kSub && is_number(at->operands[0], 0);
  return negative ? ir::max(moved, 0) : at;
}

Expr length(Node& node, Expr start, Expr end, Expr extent, std::int64_t step, std::size_t axis) {
  const Expr from = position(start, extent);
  const Expr to = position(end, extent);
  if (!from || !to || step == 0) {
    return node.unknown(fmt::format(".{}", axis),
                        fmt::format("dimension {} of what Slice '{}' takes", axis, node.name()));
  }
  if (step < 0) {
    // Backwards, as exporters write a flip: from the end to before the start.
    const bool whole = start.is_constant() && (start.constant() == -1 || start.constant() > 1e15) &&
                       end.is_constant() && end.constant() < -1e15;
    if (whole) {
      return step == -1 ? extent : ir::ceil_div(extent, static_cast<double>(-step));
    }
    return node.unknown(fmt::format(".{}", axis),
                        fmt::format("dimension {} of what Slice '{}' takes", axis, node.name()));
  }
  Expr count = difference(to, from);
  if (count.is_constant()) {
    return node.number(std::max(0.0, std::ceil(count.constant() / static_cast<double>(step))));
  }
  const bool surely = from.is_constant() && from.constant() == 0;
  count = surely || to == extent ? count : ir::max(count, 0);
  return step == 1 ? count : ir::ceil_div(count, static_cast<double>(step));
}

void slice(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  if (!node.in(0).shape) {
    node.importer().opaque(node, true);
    return;
  }
  const auto cut = cut_of(node);
  Shape shape = node.shape(0);
  if (!cut) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      shape[i] = node.unknown(fmt::format(".{}", i),
                              fmt::format("dimension {} of what Slice '{}' takes", i, node.name()));
    }
    node.emit_many("move", {node.id(0)}, node.set(0, node.in(0).type, shape),
                   {{"n", elements(node.pool(), shape)}, {"i", elements(node.pool(), shape)}},
                   {{"function", "Slice"}});
    return;
  }
  Content content = node.rank(0) == 1 ? node.in(0).content : std::nullopt;
  for (std::size_t i = 0; i < cut->axes.size(); ++i) {
    const auto axis = node.axis(cut->axes[i], node.rank(0));
    if (!axis) {
      return;
    }
    const Expr extent = shape[*axis];
    shape[*axis] = length(node, cut->starts[i], cut->ends[i], extent, cut->steps[i], *axis);
    const Expr from = position(cut->starts[i], extent);
    if (content && from && from.is_constant() && shape[*axis].is_constant() && cut->steps[i] > 0) {
      std::vector<Expr> taken;
      for (double k = 0; k < shape[*axis].constant(); ++k) {
        const double at = from.constant() + k * static_cast<double>(cut->steps[i]);
        taken.push_back(at < static_cast<double>(content->size())
                            ? (*content)[static_cast<std::size_t>(at)]
                            : Expr());
      }
      content = std::move(taken);
    } else {
      content.reset();
    }
  }
  if (elements(node.pool(), shape) == node.elements(0) && !content) {
    node.view(0, 0, std::move(shape));
    return;
  }
  const Expr count = elements(node.pool(), shape);
  const bool known = content.has_value();
  const ValueId output = node.set(0, node.in(0).type, std::move(shape), std::move(content));
  if (!known) {
    node.emit_many("move", {node.id(0)}, output, {{"n", count}, {"i", count}},
                   {{"function", "Slice"}});
  }
}

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
  if (!known) {
    node.emit_move({node.id(0), node.id(1), node.id(2)}, output);
  }
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

void pad(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const std::size_t rank = node.rank(0);
  const auto amounts = node.list_or_input(node.has_attribute("paddings") ? "paddings" : "pads", 1);
  std::vector<std::int64_t> axes;
  if (const auto given = node.integers(3)) {
    axes = *given;
  } else {
    for (std::size_t i = 0; i < rank; ++i) {
      axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  Shape shape = node.shape(0);
  const Content symbolic = node.has(1) ? node.in(1).content : std::nullopt;
  const std::size_t count = amounts ? amounts->size() : symbolic ? symbolic->size() : 0;
  if (count != 2 * axes.size() && count != 0) {
    node.error("onnx-shape", fmt::format("{} pads for {} axes", count, axes.size()));
    return;
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = node.axis(axes[i], rank);
    if (!axis) {
      return;
    }
    Expr more;
    if (amounts) {
      more = node.number(static_cast<double>((*amounts)[i]) +
                         static_cast<double>((*amounts)[axes.size() + i]));
    } else if (count != 0 && (*symbolic)[i] && (*symbolic)[axes.size() + i]) {
      more = sum((*symbolic)[i], (*symbolic)[axes.size() + i]);
    }
    shape[*axis] =
        more ? sum(shape[*axis], more)
             : node.unknown(fmt::format(".{}", *axis),
                            fmt::format("dimension {} of what Pad '{}' makes", *axis, node.name()));
    if (shape[*axis].is_constant() && shape[*axis].constant() < 0) {
      node.error("onnx-shape", "pads take away more than there is");
      return;
    }
  }
  if (elements(node.pool(), shape) == node.elements(0)) {
    node.view(0, 0, std::move(shape));
    return;
  }
  node.emit_move({node.id(0)}, node.set(0, node.in(0).type, std::move(shape)));
}

void tile(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  Shape shape = node.shape(0);
  const Content repeats = node.in(1).content;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Expr times = repeats && i < repeats->size() ? (*repeats)[i] : Expr();
    shape[i] =
        times ? product(shape[i], times)
              : node.unknown(fmt::format(".{}", i),
                             fmt::format("dimension {} of what Tile '{}' makes", i, node.name()));
    if (shape[i].is_constant() && shape[i].constant() < 0) {
      node.error("onnx-shape", "repeats an axis less than 0 times");
      return;
    }
  }
  if (elements(node.pool(), shape) == node.elements(0)) {
    node.view(0, 0, std::move(shape));
    return;
  }
  node.emit_move({node.id(0)}, node.set(0, node.in(0).type, std::move(shape)));
}

/// Extents of a resized image: sizes, or scales times the input's.
std::optional<Shape> resized(Node& node) {
  const Shape& x = node.shape(0);
  const std::vector<std::int64_t> axes = node.list("axes");
  Shape shape = x;
  const bool upsample = node.type() == "Upsample";
  const std::size_t scales_at = upsample || node.opset() == 10 ? 1 : 2;
  const auto target_axis = [&](std::size_t i) {
    return axes.empty() ? std::optional(i) : node.axis(axes[i], x.size());
  };
  const auto fill = [&](const std::vector<Expr>& values, bool scale) {
    for (std::size_t i = 0; i < values.size() && i < x.size(); ++i) {
      const auto axis = target_axis(i);
      if (!axis) {
        return false;
      }
      if (!values[i]) {
        shape[*axis] = node.unknown(
            fmt::format(".{}", *axis),
            fmt::format("dimension {} of what {} '{}' makes", *axis, node.type(), node.name()));
      } else if (!scale) {
        shape[*axis] = values[i];
      } else if (values[i].is_constant()) {
        const double factor = values[i].constant();
        const Expr grown = canonical(x[*axis] * factor);
        shape[*axis] = std::floor(factor) == factor ? grown
                       : grown.is_constant()        ? node.number(std::floor(grown.constant()))
                                                    : ir::floor(grown);
      } else {
        shape[*axis] = ir::floor(x[*axis] * values[i]);
      }
    }
    return true;
  };
  if (node.has(3) && node.in(3).content && !node.in(3).content->empty()) {
    return fill(*node.in(3).content, false) ? std::optional(shape) : std::nullopt;
  }
  if (node.has(scales_at) && node.in(scales_at).content && !node.in(scales_at).content->empty()) {
    return fill(*node.in(scales_at).content, true) ? std::optional(shape) : std::nullopt;
  }
  if (const auto* scales = node.attribute("scales")) {
    std::vector<Expr> values;
    for (const float s : scales->floats()) {
      values.push_back(node.number(s));
    }
    return fill(values, true) ? std::optional(shape) : std::nullopt;
  }
  return fill(std::vector<Expr>(axes.empty() ? x.size() : axes.size()), false)
             ? std::optional(shape)
             : std::nullopt;
}

/// Nearest moves; linear takes 2 neighbours an axis, cubic 4.
void resize(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto shape = resized(node);
  if (!shape) {
    return;
  }
  const std::string mode = node.text("mode", "nearest");
  const ValueId output = node.set(0, node.in(0).type, *shape);
  if (mode == "nearest") {
    node.emit_move({node.id(0)}, output);
    return;
  }
  double taps = 1;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    taps *= (*shape)[i] == node.shape(0)[i] ? 1 : mode == "cubic" ? 4 : 2;
  }
  node.emit_many("elementwise", {node.id(0)}, output,
                 {{"n", elements(node.pool(), *shape)}, {"a", node.number(2 * taps)}},
                 {{"function", "resize"}});
}

/// Samples an image where a grid says.
void grid_sample(Node& node) {
  if (!needs_inputs(node, 2) || node.rank(0) < 3 || node.rank(1) != node.rank(0)) {
    return;
  }
  Shape shape{node.shape(0)[0], node.shape(0)[1]};
  shape.insert(shape.end(), node.shape(1).begin() + 1, node.shape(1).end() - 1);
  const std::string mode = node.text("mode", "linear");
  const double taps = mode == "nearest" ? 1
                      : mode == "cubic" || mode == "bicubic"
                          ? 16
                          : std::pow(2, static_cast<double>(node.rank(0) - 2));
  const ValueId output = node.set(0, node.in(0).type, shape);
  const Expr count = elements(node.pool(), shape);
  node.emit_many("elementwise", {node.id(0), node.id(1)}, output,
                 {{"n", count}, {"a", node.number(2 * taps + 4)}}, {{"function", "grid_sample"}});
}

/// Blocks of pixels to channels or back.
void shuffle(Node& node) {
  if (!needs_inputs(node, 1) || node.rank(0) != 4) {
    return;
  }
  const Expr block =
      node.number(static_cast<double>(std::max<std::int64_t>(node.integer("blocksize", 1), 1)));
  const Expr square = product(block, block);
  const Shape& x = node.shape(0);
  const bool deeper = node.type() == "SpaceToDepth";
  const auto by = [&](Expr e) { return deeper ? quotient(e, block) : product(e, block); };
  const Shape shape{x[0], deeper ? product(x[1], square) : quotient(x[1], square), by(x[2]),
                    by(x[3])};
  node.emit_move({node.id(0)}, node.set(0, node.in(0).type, shape));
}

/// Same shape, other places.
void same_shape(Node& node) {
  if (needs_inputs(node, 1)) {
    node.emit_move(present_inputs(node), node.set(0, node.in(0).type, node.shape(0)));
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

/// Columns of windows put back into an image.
void col2im(Node& node) {
  if (!needs_inputs(node, 3) || node.rank(0) != 3) {
    return;
  }
  const auto block = node.integers(2);
  Shape shape{node.shape(0)[0]};
  double taps = 1;
  for (const std::int64_t b : block.value_or(std::vector<std::int64_t>())) {
    taps *= static_cast<double>(std::max<std::int64_t>(b, 1));
  }
  shape.push_back(quotient(node.shape(0)[1], node.number(taps)));
  const Content image = node.in(1).content;
  const std::size_t axes = image ? image->size() : block ? block->size() : 0;
  for (std::size_t i = 0; i < axes; ++i) {
    shape.push_back(image && (*image)[i]
                        ? (*image)[i]
                        : node.unknown(fmt::format(".{}", i + 2), "an extent of an image"));
  }
  const ValueId output = node.set(0, node.in(0).type, shape);
  const Expr count = elements(node.pool(), shape);
  node.emit({.kind = "reduce",
             .dims = {{"r", count}, {"c", quotient(node.elements(0), count)}},
             .operands = {{"x", node.id(0)}, {"o", output}}});
}

void center_crop_pad(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  Shape shape = node.shape(0);
  const Content wanted = node.in(1).content;
  const std::vector<std::int64_t> axes = node.list("axes");
  const std::size_t count = axes.empty() ? shape.size() : axes.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = axes.empty() ? std::optional(i) : node.axis(axes[i], shape.size());
    if (!axis) {
      return;
    }
    shape[*axis] = wanted && i < wanted->size() && (*wanted)[i]
                       ? (*wanted)[i]
                       : node.unknown(fmt::format(".{}", *axis), "an extent of a cropped image");
  }
  const Expr written = elements(node.pool(), shape);
  node.emit_many("move", {node.id(0)}, node.set(0, node.in(0).type, shape),
                 {{"n", written}, {"i", ir::min(written, node.elements(0))}},
                 {{"function", "CenterCropPad"}});
}

void affine_grid(Node& node) {
  if (!needs_inputs(node, 2)) {
    return;
  }
  const Content size = node.in(1).content;
  if (!size || size->size() < 4) {
    node.set(0, node.in(0).type, std::nullopt);
    return;
  }
  Shape shape{(*size)[0]};
  shape.insert(shape.end(), size->begin() + 2, size->end());
  shape.push_back(node.number(static_cast<double>(size->size() - 2)));
  if (std::ranges::any_of(shape, [](Expr e) { return !e; })) {
    node.set(0, node.in(0).type, std::nullopt);
    return;
  }
  const ValueId output = node.set(0, node.in(0).type, shape);
  node.emit_many("elementwise", {node.id(0)}, output,
                 {{"n", elements(node.pool(), shape)},
                  {"a", node.number(2 * static_cast<double>(size->size() - 1))}},
                 {{"function", "affine_grid"}});
}

constexpr std::array kRules = {
    RuleEntry{"AffineGrid", affine_grid},
    RuleEntry{"CenterCropPad", center_crop_pad},
    RuleEntry{"Col2Im", col2im},
    RuleEntry{"Concat", concat},
    RuleEntry{"DepthToSpace", shuffle},
    RuleEntry{"Gather", gather},
    RuleEntry{"GatherElements", gather_elements},
    RuleEntry{"GatherND", gather_nd},
    RuleEntry{"GridSample", grid_sample},
    RuleEntry{"OneHot", one_hot},
    RuleEntry{"Pad", pad},
    RuleEntry{"Resize", resize},
    RuleEntry{"ReverseSequence", same_shape},
    RuleEntry{"Scatter", scatter},
    RuleEntry{"ScatterElements", scatter},
    RuleEntry{"ScatterND", scatter},
    RuleEntry{"Slice", slice, true},
    RuleEntry{"SpaceToDepth", shuffle},
    RuleEntry{"Split", split},
    RuleEntry{"TensorScatter", tensor_scatter},
    RuleEntry{"Tile", tile},
    RuleEntry{"Transpose", transpose},
    RuleEntry{"Trilu", same_shape},
    RuleEntry{"Upsample", resize},
    RuleEntry{"com.microsoft.GridSample", grid_sample},
    RuleEntry{"com.microsoft.Trilu", same_shape},
};

}  // namespace

std::span<const RuleEntry> movement_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
