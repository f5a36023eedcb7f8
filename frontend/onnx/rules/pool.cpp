#include <array>

#include <fmt/format.h>

#include "frontend/onnx/rules/common.hpp"
#include "frontend/onnx/rules/tables.hpp"
#include "frontend/onnx/rules/windows.hpp"

namespace mansard::frontend::onnx {
namespace {

bool channels_last(const Node& node) {
  return node.type() == "NhwcMaxPool" || node.integer("channels_last", 0) != 0;
}

Shape spatial_of(const Node& node) {
  const Shape& shape = node.shape(0);
  const std::ptrdiff_t first = channels_last(node) ? 1 : 2;
  return Shape(shape.begin() + first, shape.begin() + first + std::ssize(shape) - 2);
}

void emit_pool(Node& node, const Shape& places, Expr taps) {
  const Shape& x = node.shape(0);
  const bool last = channels_last(node);
  const Expr channels = last ? x.back() : x[1];
  Shape shape = places;
  shape.insert(last ? shape.end() : shape.begin(), channels);
  shape.insert(shape.begin(), x[0]);
  const ValueId output = node.set(0, node.in(0).type, shape);
  OpSpec spec{.kind = "pool",
              .dims = {{"b", x[0]},
                       {"n", channels},
                       {"o", elements(node.pool(), places)},
                       {"k", taps},
                       {"i", product(channels, elements(node.pool(), spatial_of(node)))}},
              .operands = {{"x", node.id(0)}, {"o", output}},
              .attributes = {{"function", node.type()}}};
  if (node.wants(1)) {
    spec.operands.push_back({"indices", node.set(1, pb::TensorProto::INT64, shape)});
  }
  node.emit(std::move(spec));
}

bool is_image(Node& node) {
  if (!needs_inputs(node, 1)) {
    return false;
  }
  if (node.rank(0) < 3) {
    node.error("onnx-rank",
               fmt::format("pools a tensor of rank {}, expected at least 3", node.rank(0)));
    return false;
  }
  return true;
}

void pool(Node& node) {
  if (!is_image(node)) {
    return;
  }
  const Shape spatial = spatial_of(node);
  const auto windows = windows_of(node, node.list("kernel_shape"), spatial.size());
  if (windows) {
    emit_pool(node, positions(node, *windows, spatial), node.number(windows->taps()));
  }
}

void global_pool(Node& node) {
  if (is_image(node)) {
    const Shape spatial = spatial_of(node);
    emit_pool(node, Shape(spatial.size(), node.number(1)), elements(node.pool(), spatial));
  }
}

/// Writes each value where its maximum stood.
void max_unpool(Node& node) {
  if (!is_image(node)) {
    return;
  }
  const Shape spatial = spatial_of(node);
  const auto w = windows_of(node, node.list("kernel_shape"), spatial.size());
  if (!w) {
    return;
  }
  Shape shape{node.shape(0)[0], node.shape(0)[1]};
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    shape.push_back(canonical(static_cast<double>(w->strides[i]) * (spatial[i] - 1) +
                              static_cast<double>(w->kernel[i] - w->pads[i])));
  }
  if (const auto given = node.integers(2); given && given->size() == shape.size()) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      shape[i] = node.number(static_cast<double>((*given)[i]));
    }
  }
  std::vector<ValueId> inputs{node.id(0)};
  if (node.has(1)) {
    inputs.push_back(node.id(1));
  }
  node.emit_move(inputs, node.set(0, node.in(0).type, shape));
}

/// Regions of a feature map, each cut to a grid: rois x channels x height x width.
void region_pool(Node& node) {
  if (!is_image(node) || !needs_inputs(node, 2) || node.rank(1) == 0) {
    return;
  }
  std::vector<std::int64_t> grid = node.list("pooled_shape");
  const bool aligns = node.type() == "RoiAlign";
  if (aligns) {
    grid = {node.integer("output_height", 1), node.integer("output_width", 1)};
  }
  if (grid.size() != 2 || grid[0] < 1 || grid[1] < 1) {
    node.error("onnx-attribute", "a grid of regions needs two extents from 1");
    return;
  }
  const Shape shape{node.shape(1)[0], node.shape(0)[1], node.number(static_cast<double>(grid[0])),
                    node.number(static_cast<double>(grid[1]))};
  const ValueId output = node.set(0, node.in(0).type, shape);
  // Bilinear: 4 neighbours at each sample; 0 chooses as many as fit, taken as 2 x 2.
  const std::int64_t ratio = node.integer("sampling_ratio", 0);
  const double samples = aligns ? (ratio > 0 ? static_cast<double>(ratio * ratio) : 4) : 1;
  std::vector<ValueId> inputs{node.id(0), node.id(1)};
  node.emit_many(
      "elementwise", inputs, output,
      {{"n", elements(node.pool(), shape)}, {"a", node.number(samples * (aligns ? 8 : 1))}},
      {{"function", node.type()}});
}

/// The same with the grid as an input.
void crop_and_resize(Node& node) {
  if (!is_image(node) || !needs_inputs(node, 4) || node.rank(0) != 4 || node.rank(1) == 0) {
    return;
  }
  const auto grid = node.content(3);
  Shape shape{node.shape(1)[0], node.shape(0)[1]};
  for (std::size_t i = 0; i < 2; ++i) {
    shape.push_back(grid && grid->size() == 2
                        ? (*grid)[i]
                        : node.unknown(fmt::format(".{}", i + 2), "an extent of a crop"));
  }
  const ValueId output = node.set(0, node.in(0).type, shape);
  const bool nearest = node.text("mode", "bilinear") == "nearest";
  node.emit_many("elementwise", {node.id(0), node.id(1)}, output,
                 {{"n", elements(node.pool(), shape)}, {"a", node.number(nearest ? 1 : 8)}},
                 {{"function", "CropAndResize"}});
}

constexpr std::array kRules = {
    RuleEntry{"AveragePool", pool},
    RuleEntry{"GlobalAveragePool", global_pool},
    RuleEntry{"GlobalLpPool", global_pool},
    RuleEntry{"GlobalMaxPool", global_pool},
    RuleEntry{"LpPool", pool},
    RuleEntry{"MaxPool", pool},
    RuleEntry{"MaxRoiPool", region_pool},
    RuleEntry{"MaxUnpool", max_unpool},
    RuleEntry{"RoiAlign", region_pool},
    RuleEntry{"com.microsoft.CropAndResize", crop_and_resize},
    RuleEntry{"com.microsoft.MaxpoolWithMask", pool},
    RuleEntry{"com.microsoft.NhwcMaxPool", pool},
    RuleEntry{"com.microsoft.QLinearAveragePool", pool},
    RuleEntry{"com.microsoft.QLinearGlobalAveragePool", global_pool},
};

}  // namespace

std::span<const RuleEntry> pool_rules() {
  return kRules;
}

}  // namespace mansard::frontend::onnx
