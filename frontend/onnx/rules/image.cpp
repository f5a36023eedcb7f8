#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

/// Sizes are bounds where one factor must hold for all axes: the least factor, or the greatest.
std::optional<Shape> keep_aspect(const Node& node, Shape sizes,
                                 const std::vector<std::int64_t>& axes) {
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") {
    return sizes;
  }
  const Shape& x = node.shape(0);
  const auto resized = [&](std::size_t i) {
    const auto rank = static_cast<std::int64_t>(x.size());
    return axes.empty() || std::ranges::any_of(axes, [&](std::int64_t axis) {
             return static_cast<std::int64_t>(i) == (axis < 0 ? axis + rank : axis);
           });
  };
  std::optional<double> factor;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!resized(i)) {
      continue;
    }
    if (!x[i].is_constant() || !sizes[i].is_constant() || x[i].constant() == 0) {
      return sizes;  // An upper or lower bound is what is known.
    }
    const double own = sizes[i].constant() / x[i].constant();
    factor = !factor                  ? own
             : policy == "not_larger" ? std::min(*factor, own)
                                      : std::max(*factor, own);
  }
  for (std::size_t i = 0; factor && i < x.size(); ++i) {
    sizes[i] = resized(i) ? node.number(std::floor(*factor * x[i].constant() + 0.5)) : sizes[i];
  }
  return sizes;
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
    const bool filled = fill(*node.in(3).content, false);
    return filled ? keep_aspect(node, std::move(shape), axes) : std::nullopt;
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
    RuleEntry{"AffineGrid", affine_grid}, RuleEntry{"Col2Im", col2im},
    RuleEntry{"DepthToSpace", shuffle},   RuleEntry{"GridSample", grid_sample},
    RuleEntry{"Resize", resize},          RuleEntry{"SpaceToDepth", shuffle},
    RuleEntry{"Upsample", resize},        RuleEntry{"com.microsoft.GridSample", grid_sample},
};

}  // namespace

std::span<const RuleEntry> image_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
