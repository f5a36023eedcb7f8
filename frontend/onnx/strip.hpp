#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Leaves the data of tensors behind.
namespace mansard::frontend::onnx {

/// The bytes of a serialised ModelProto without the data of tensors that hold more than 64 KiB:
/// what is left of a model of many gigabytes is its graph. Walks the wire format itself, so that
/// nothing large is copied and the 2 GiB limit of protobuf does not matter. Absent: the bytes are
/// not a protobuf message (truncated, a length beyond its message, an unknown wire type, nesting
/// deeper than 100).
[[nodiscard]] std::optional<std::string> strip_tensor_data(std::string_view model);

}  // namespace mansard::frontend::onnx
