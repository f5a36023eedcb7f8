#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"

namespace mansard::frontend::onnx {
namespace {

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

/// All slices of `size` along an axis, `step` apart, each along an axis of its own behind.
void unfold(Node& node) {
  if (!needs_inputs(node, 1)) {
    return;
  }
  const auto axis = node.axis(node.integer("dim", -1), node.rank(0));
  const std::int64_t size = node.integer("size", 0);
  const std::int64_t step = node.integer("step", 1);
  if (!axis) {
    return;
  }
  if (size < 1 || step < 1) {
    node.error("onnx-attribute", fmt::format("slices of {}, {} apart", size, step));
    return;
  }
  Shape shape = node.shape(0);
  const Expr room = canonical(shape[*axis] - static_cast<double>(size));
  if (room.is_constant() && room.constant() < 0) {
    node.error("onnx-shape", fmt::format("a slice of {} does not fit", size));
    return;
  }
  shape[*axis] = canonical(ir::floor_div(room, static_cast<double>(step)) + 1);
  shape.push_back(node.number(static_cast<double>(size)));
  node.emit_move({node.id(0)}, node.set(0, node.in(0).type, shape));
}

constexpr std::array kRules = {
    RuleEntry{"CenterCropPad", center_crop_pad},
    RuleEntry{"Pad", pad},
    RuleEntry{"Tile", tile},
    RuleEntry{"com.microsoft.Pad", pad},
    RuleEntry{"com.microsoft.UnfoldTensor", unfold},
};

}  // namespace

std::span<const RuleEntry> extent_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
