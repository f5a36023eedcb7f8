#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "validate/measure/row.hpp"
#include "validate/suite/gpu/check.cuh"

namespace mansard::measure {

/// Sixteen bytes of elements, read and written at once.
template <typename T>
struct alignas(16) Vector {
  static constexpr int kWidth = 16 / sizeof(T);
  T lane[kWidth];
};

template <typename T>
__device__ Vector<T> load(const T* data, std::size_t index) {
  return reinterpret_cast<const Vector<T>*>(data)[index];
}

template <typename T>
__device__ void store(T* data, std::size_t index, const Vector<T>& value) {
  reinterpret_cast<Vector<T>*>(data)[index] = value;
}

/// Calls `f` with a null pointer of the element type that a row's dtype names.
template <typename Function>
void with_type(std::string_view dtype, Function f) {
  if (dtype == "bf16") {
    f(static_cast<__nv_bfloat16*>(nullptr));
  } else if (dtype == "fp16") {
    f(static_cast<__half*>(nullptr));
  } else if (dtype == "fp32") {
    f(static_cast<float*>(nullptr));
  } else {
    throw UsageError("no kernel of ours for dtype '" + std::string(dtype) + "'");
  }
}

/// `T` of the pointer that with_type() gives.
template <typename Pointer>
using Pointee = std::remove_pointer_t<Pointer>;

}  // namespace mansard::measure
