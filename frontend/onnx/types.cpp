#include "frontend/onnx/types.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace mansard::frontend::onnx {
namespace {

struct Type {
  std::string_view dtype;
  bool is_float = false;
};

/// By number of TensorProto::DataType (onnx.proto of IR 13).
constexpr std::array<Type, 27> kTypes = {{
    {"fp32", true},      // UNDEFINED: taken as the usual one
    {"fp32", true},      // FLOAT
    {"uint8"},           // UINT8
    {"int8"},            // INT8
    {"int16"},           // UINT16
    {"int16"},           // INT16
    {"int32"},           // INT32
    {"int64"},           // INT64
    {"uint8"},           // STRING
    {"bool"},            // BOOL
    {"fp16", true},      // FLOAT16
    {"fp64", true},      // DOUBLE
    {"int32"},           // UINT32
    {"int64"},           // UINT64
    {"fp64", true},      // COMPLEX64
    {"fp64", true},      // COMPLEX128
    {"bf16", true},      // BFLOAT16
    {"fp8", true},       // FLOAT8E4M3FN
    {"fp8", true},       // FLOAT8E4M3FNUZ
    {"fp8_e5m2", true},  // FLOAT8E5M2
    {"fp8_e5m2", true},  // FLOAT8E5M2FNUZ
    {"int4"},            // UINT4
    {"int4"},            // INT4
    {"fp4", true},       // FLOAT4E2M1
    {"uint8", true},     // FLOAT8E8M0
    {"int4"},            // UINT2: no format so narrow
    {"int4"},            // INT2
}};

}  // namespace

bool is_known_type(int type) {
  return type > 0 && static_cast<std::size_t>(type) < kTypes.size();
}

const ir::Dtype* dtype_of(int type) {
  return ir::find_dtype(kTypes.at(is_known_type(type) ? static_cast<std::size_t>(type) : 0).dtype);
}

bool is_float(int type) {
  return kTypes.at(is_known_type(type) ? static_cast<std::size_t>(type) : 0).is_float;
}

}  // namespace mansard::frontend::onnx
