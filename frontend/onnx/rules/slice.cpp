#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

constexpr std::int64_t kEnd = std::int64_t{1} << 52;  ///< Slices beyond it go to the end.

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

/// Elements taken from the last to the first: a start beyond the end is the last, an end before the
/// first takes that too.
double backwards(double start, double end, double extent, std::int64_t step) {
  const auto within = [&](double at, double least) {
    return std::clamp(at < 0 ? at + extent : at, least, std::max(extent - 1, least));
  };
  const double gap = within(start, 0) - within(end, -1);
  return extent == 0 ? 0 : std::max(0.0, std::ceil(gap / -static_cast<double>(step)));
}

Expr length(Node& node, Expr start, Expr end, Expr extent, std::int64_t step, std::size_t axis) {
  const Expr from = position(start, extent);
  const Expr to = position(end, extent);
  if (!from || !to || step == 0) {
    return node.unknown(fmt::format(".{}", axis),
                        fmt::format("dimension {} of what Slice '{}' takes", axis, node.name()));
  }
  if (step < 0 && start.is_constant() && end.is_constant() && extent.is_constant()) {
    return node.number(backwards(start.constant(), end.constant(), extent.constant(), step));
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
  const bool forwards = std::ranges::all_of(cut->steps, [](std::int64_t step) { return step > 0; });
  if (forwards && elements(node.pool(), shape) == node.elements(0) && !content) {
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

constexpr std::array kRules = {
    RuleEntry{"Slice", slice, true},
};

}  // namespace

std::span<const RuleEntry> slice_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
