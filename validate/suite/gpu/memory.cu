#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "validate/measure/row.hpp"
#include "validate/suite/gpu/memory.cuh"

namespace mansard::measure {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 2048;

__host__ __device__ std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Standard normal by Box and Muller from one 64-bit hash.
__device__ float normal(std::uint64_t hash) {
  const float u = (static_cast<float>(static_cast<std::uint32_t>(hash)) + 1.0f) * 0x1p-32f;
  const float v = static_cast<float>(static_cast<std::uint32_t>(hash >> 32)) * 0x1p-32f;
  return sqrtf(-2.0f * __logf(fminf(u, 1.0f))) * __cosf(6.2831853f * v);
}

template <typename T>
__device__ T draw(std::uint64_t hash) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(hash);
  } else {
    return static_cast<T>(normal(hash));
  }
}

template <typename T>
__global__ void random_kernel(T* data, std::size_t count, std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    data[i] = draw<T>(mix(mix(seed) ^ i));
  }
}

__global__ void index_kernel(std::uint32_t* data, std::size_t count, std::uint32_t limit,
                             std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    data[i] = static_cast<std::uint32_t>(mix(mix(seed) ^ i) % limit);
  }
}

__global__ void angle_kernel(float* data, std::size_t count, std::uint32_t dim,
                             std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const bool sine = i % dim >= dim / 2;
    const std::uint64_t hash = mix(mix(seed) ^ (sine ? i - dim / 2 : i));
    const float angle = static_cast<float>(static_cast<std::uint32_t>(hash)) * 0x1p-30f;
    data[i] = sine ? sinf(angle) : cosf(angle);
  }
}

__global__ void read_kernel(const uint4* data, std::size_t count, std::uint32_t* never) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  std::uint32_t bits = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 v = __ldcg(data + i);
    bits |= v.x & v.y & v.z & v.w;
  }
  if (never != nullptr) {
    *never = bits;
  }
}

template <typename T>
void fill(void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  random_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<T*>(data), count, seed);
  check_launch();
}

struct Format {
  std::string_view dtype;
  std::size_t bytes;
  void (*fill)(void*, std::size_t, std::uint64_t, cudaStream_t);
};

constexpr Format kFormats[] = {
    {"fp64", 8, fill<double>},        {"f64", 8, fill<double>},
    {"fp32", 4, fill<float>},         {"f32", 4, fill<float>},
    {"tf32", 4, fill<float>},         {"bf16", 2, fill<__nv_bfloat16>},
    {"fp16", 2, fill<__half>},        {"f16", 2, fill<__half>},
    {"fp8", 1, fill<__nv_fp8_e4m3>},  {"int64", 8, fill<std::int64_t>},
    {"i64", 8, fill<std::int64_t>},   {"u64", 8, fill<std::uint64_t>},
    {"int32", 4, fill<std::int32_t>}, {"i32", 4, fill<std::int32_t>},
    {"u32", 4, fill<std::uint32_t>},  {"i16", 2, fill<std::int16_t>},
    {"u16", 2, fill<std::uint16_t>},  {"int8", 1, fill<std::int8_t>},
    {"i8", 1, fill<std::int8_t>},     {"u8", 1, fill<std::uint8_t>},
};

const Format& format(std::string_view dtype) {
  for (const Format& known : kFormats) {
    if (known.dtype == dtype) {
      return known;
    }
  }
  throw UsageError("unknown element type '" + std::string(dtype) + "'");
}

}  // namespace

Arena::Arena(std::size_t bytes) : size_(bytes) {
  check(cudaMalloc(&base_, bytes));
}

Arena::~Arena() {
  cudaFree(base_);
}

std::byte* Arena::take(std::size_t bytes, std::source_location where) {
  constexpr std::size_t kAlignment = 256;
  const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (whole > left()) {
    throw DeviceError("needs " + std::to_string((used_ + whole) >> 20) +
                          " MiB of device memory, the arena has " + std::to_string(size_ >> 20),
                      where);
  }
  std::byte* const result = base_ + used_;
  used_ += whole;
  return result;
}

std::size_t element_bytes(std::string_view dtype) {
  return format(dtype).bytes;
}

void fill_random(std::string_view dtype, void* data, std::size_t count, std::uint64_t seed,
                 cudaStream_t stream) {
  format(dtype).fill(data, count, seed, stream);
}

void fill_indices(std::uint32_t* data, std::size_t count, std::uint32_t limit, std::uint64_t seed,
                  cudaStream_t stream) {
  index_kernel<<<kBlocks, kThreads, 0, stream>>>(data, count, limit, seed);
  check_launch();
}

void fill_angles(float* data, std::size_t count, std::uint32_t dim, std::uint64_t seed,
                 cudaStream_t stream) {
  angle_kernel<<<kBlocks, kThreads, 0, stream>>>(data, count, dim, seed);
  check_launch();
}

void poison(void* data, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemsetAsync(data, 0xff, bytes, stream));
}

void read_through(const void* data, std::size_t bytes, cudaStream_t stream) {
  read_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<const uint4*>(data),
                                                bytes / sizeof(uint4), nullptr);
  check_launch();
}

}  // namespace mansard::measure
