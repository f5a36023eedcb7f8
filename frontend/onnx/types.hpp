#pragma once

#include "ir/dtype.hpp"

namespace mansard::frontend::onnx {

/// The number format of a TensorProto::DataType, those newer than libonnx included. Types that have
/// none of ours (strings, complex numbers) get the one of the same width, strings a byte.
[[nodiscard]] const ir::Dtype* dtype_of(int type);
[[nodiscard]] bool is_known_type(int type);
/// Floating point of any width: what parameters are made of.
[[nodiscard]] bool is_float(int type);

}  // namespace mansard::frontend::onnx
