#pragma once

#include <cstdint>

#include <cuda_bf16.h>

namespace mansard::measure {

/// Two floats as a bf16 pair, the first in the low half.
__device__ inline std::uint32_t pack_bf16(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

/// c[16,8] += a[16,16] . b[16,8] of a warp, in the fragments of mma.m16n8k16: with g = lane / 4 and
/// t = lane % 4, c holds rows g, g, g + 8, g + 8 of columns 2t, 2t + 1; a the pairs (g, 2t), (g +
/// 8, 2t), (g, 2t + 8), (g + 8, 2t + 8); b the pairs down column g from 2t and 2t + 8.
__device__ inline void mma_bf16(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Over the four lanes that share a row of c.
__device__ inline float row_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(~0u, value, 1));
  return fmaxf(value, __shfl_xor_sync(~0u, value, 2));
}

__device__ inline float row_sum(float value) {
  value += __shfl_xor_sync(~0u, value, 1);
  return value + __shfl_xor_sync(~0u, value, 2);
}

}  // namespace mansard::measure
