#include "frontend/onnx/rules/windows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mansard::frontend::onnx {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;

std::optional<std::vector<std::int64_t>> sizes(Node& node, const char* name, std::size_t axes) {
  std::vector<std::int64_t> list = node.list(name);
  if (list.empty()) {
    list.assign(axes, 1);
  }
  const bool fits = list.size() == axes && std::ranges::all_of(list, [](std::int64_t x) {
                      return x >= 1 && x < kLargest;
                    });
  if (!fits) {
    node.error("onnx-attribute", fmt::format("{} is [{}], expected {} whole numbers from 1", name,
                                             fmt::join(list, ", "), axes));
    return std::nullopt;
  }
  return list;
}

}  // namespace

double Windows::taps() const {
  double result = 1;
  for (const std::int64_t k : kernel) {
    result *= static_cast<double>(k);
  }
  return result;
}

std::optional<Windows> windows_of(Node& node, std::vector<std::int64_t> kernel, std::size_t axes) {
  const bool fits = kernel.size() == axes && std::ranges::all_of(kernel, [](std::int64_t x) {
                      return x >= 1 && x < kLargest;
                    });
  if (!fits) {
    node.error("onnx-attribute", fmt::format("a kernel of [{}] over {} spatial dimensions",
                                             fmt::join(kernel, ", "), axes));
    return std::nullopt;
  }
  const auto strides = sizes(node, "strides", axes);
  const auto dilations = sizes(node, "dilations", axes);
  std::vector<std::int64_t> pads = node.list("pads");
  if (pads.empty()) {
    pads.assign(2 * axes, 0);
  }
  if (pads.size() != 2 * axes) {
    node.error("onnx-attribute", fmt::format("{} pads over {} spatial dimensions, expected {}",
                                             pads.size(), axes, 2 * axes));
    return std::nullopt;
  }
  if (!strides || !dilations) {
    return std::nullopt;
  }
  Windows result{.kernel = std::move(kernel),
                 .strides = *strides,
                 .dilations = *dilations,
                 .auto_pad = node.text("auto_pad", "NOTSET"),
                 .ceil_mode = node.integer("ceil_mode", 0) != 0};
  for (std::size_t i = 0; i < axes; ++i) {
    if (std::max(std::abs(pads[i]), std::abs(pads[axes + i])) >= kLargest) {
      node.error("onnx-attribute", "pads beyond 2^40");
      return std::nullopt;
    }
    result.pads.push_back(pads[i] + pads[axes + i]);
    result.pads_before.push_back(pads[i]);
  }
  return result;
}

Shape positions(Node& node, const Windows& w, const Shape& spatial) {
  Shape result;
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const auto stride = static_cast<double>(w.strides[i]);
    const double reach =
        static_cast<double>(w.dilations[i]) * static_cast<double>(w.kernel[i] - 1) + 1;
    if (w.auto_pad.starts_with("SAME")) {
      result.push_back(ir::ceil_div(spatial[i], stride));
      continue;
    }
    const double pads = w.auto_pad == "VALID" ? 0 : static_cast<double>(w.pads[i]);
    const Expr room = canonical(spatial[i] + (pads - reach));
    if (room.is_constant() && room.constant() < 0) {
      node.error("onnx-shape", fmt::format("a window of {} does not fit in {} with {} of padding",
                                           reach, spatial[i].constant(), pads));
      result.push_back(node.number(1));
      continue;
    }
    const Expr steps = w.ceil_mode   ? ir::ceil_div(room, stride)
                       : stride == 1 ? room
                                     : ir::floor_div(room, stride);
    Expr count = canonical(steps + 1);
    const bool in_padding =
        w.ceil_mode && count.is_constant() && spatial[i].is_constant() &&
        (count.constant() - 1) * stride >=
            spatial[i].constant() +
                (w.auto_pad == "VALID" ? 0 : static_cast<double>(w.pads_before[i]));
    count = in_padding && count.constant() > 1 ? canonical(steps) : count;
    result.push_back(count);
  }
  return result;
}

}  // namespace mansard::frontend::onnx
