#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/onnx/node.hpp"

/// Windows of convolutions and pools.
namespace mansard::frontend::onnx {

struct Windows {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads;  ///< Sum of both sides, an axis.
  std::vector<std::int64_t> pads_before;
  std::string auto_pad;
  bool ceil_mode = false;

  [[nodiscard]] double taps() const;
};

/// Attributes of `axes` spatial axes; absent after an error (a kernel, stride or dilation below 1,
/// a list of another length).
[[nodiscard]] std::optional<Windows> windows_of(Node& node, std::vector<std::int64_t> kernel,
                                                std::size_t axes);

/// Positions along each axis: floor((in + pads - dilation (kernel - 1) - 1) / stride) + 1; with
/// `ceil_mode` rounded up, but no window begins in the padding behind.
[[nodiscard]] Shape positions(Node& node, const Windows& windows, const Shape& spatial);

}  // namespace mansard::frontend::onnx
