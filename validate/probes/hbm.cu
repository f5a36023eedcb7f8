#include <algorithm>

#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr int kUnroll = 4;

enum class Access { kRead, kWrite, kCopy, kTriad };

/// Grid-stride over float4, kUnroll of them in flight a thread.
template <Access kAccess>
__global__ void access_kernel(const float4* __restrict__ a, const float4* __restrict__ b,
                              float4* __restrict__ y, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  float4 sum = make_float4(1, 2, 3, 4);
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; first < count;
       first += kUnroll * step) {
    float4 va[kUnroll];
    float4 vb[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::size_t i = first + u * step;
      va[u] = kAccess != Access::kWrite && i < count ? __ldcs(a + i) : sum;
      vb[u] = kAccess == Access::kTriad && i < count ? __ldcs(b + i) : sum;
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::size_t i = first + u * step;
      if (kAccess == Access::kRead) {
        sum.x += va[u].x + va[u].y + va[u].z + va[u].w;
      } else if (i < count) {
        const float s = kAccess == Access::kTriad ? 0.5f : 0.0f;
        __stcs(y + i, make_float4(va[u].x + s * vb[u].x, va[u].y + s * vb[u].y,
                                  va[u].z + s * vb[u].z, va[u].w + s * vb[u].w));
      }
    }
  }
  if (kAccess == Access::kRead && sum.x == 1.2345e30f) {
    *y = sum;
  }
}

struct Kind {
  std::string_view op;
  void (*kernel)(const float4*, const float4*, float4*, std::size_t);
  /// Arrays that the memory moves.
  int arrays;
};

constexpr Kind kKinds[] = {{"hbm_read", access_kernel<Access::kRead>, 1},
                           {"hbm_write", access_kernel<Access::kWrite>, 1},
                           {"hbm_copy", access_kernel<Access::kCopy>, 2},
                           {"hbm_triad", access_kernel<Access::kTriad>, 3}};

struct Arrays {
  float4* a;
  float4* b;
  float4* y;
};

/// `bytes` are moved in all; the sets lie behind each other.
void measure_access(Lab& lab, const Kind& kind, const Arrays& arrays, std::size_t bytes,
                    int blocks_of_sm, int threads) {
  const std::size_t count = bytes / kind.arrays / sizeof(float4);
  const std::size_t array_bytes = count * sizeof(float4);
  const Rotation rotation = lab.rotation(static_cast<double>(array_bytes));
  const int blocks = blocks_of_sm * lab.device().sms;
  const auto call = [&, count](cudaStream_t stream, int turn) {
    const std::size_t offset = turn * count;
    kind.kernel<<<blocks, threads, 0, stream>>>(arrays.a + offset, arrays.b + offset,
                                                arrays.y + offset, count);
    check_launch();
  };
  Row row{{"op", kind.op}, {"dtype", "fp32"}};
  row.set("bytes", static_cast<std::int64_t>(bytes))
      .set("blocks", blocks_of_sm)
      .set("threads", threads);
  measure_rate(lab, row, {call, rotation}, Rate::gigabytes(static_cast<double>(bytes)));
}

Arrays make_arrays(Lab& lab, std::size_t bytes) {
  const Arrays arrays{lab.arena().take_array<float4>(bytes / sizeof(float4)),
                      lab.arena().take_array<float4>(bytes / sizeof(float4)),
                      lab.arena().take_array<float4>(bytes / sizeof(float4))};
  for (float4* array : {arrays.a, arrays.b, arrays.y}) {
    fill_random("fp32", array, bytes / sizeof(float), lab.seed(), lab.stream());
  }
  return arrays;
}

/// Copies once and compares a sample.
void check_copy(Lab& lab, const Arrays& arrays) {
  constexpr std::size_t kCount = 10007;
  poison(arrays.y, kCount * sizeof(float4), lab.stream());
  access_kernel<Access::kCopy><<<16, 256, 0, lab.stream()>>>(arrays.a, arrays.b, arrays.y, kCount);
  check_launch();
  const auto a = download(reinterpret_cast<float*>(arrays.a), 4 * kCount, lab.stream());
  const auto y = download(reinterpret_cast<float*>(arrays.y), 4 * kCount, lab.stream());
  if (a != y) {
    throw DeviceError("the copy differs from its source", std::source_location::current());
  }
}

}  // namespace

void probe_hbm(Lab& lab) {
  constexpr std::size_t kLargest = std::size_t{4} << 30;
  constexpr int kFullBlocks = 8;
  constexpr int kThreads = 256;
  const std::size_t array = std::min(kLargest, lab.arena().size() / 4) & ~std::size_t{0xfffff};
  const Arrays arrays = make_arrays(lab, array);
  check_copy(lab, arrays);
  const auto all_kinds = [&](std::size_t bytes, int blocks, int threads) {
    for (const Kind& kind : kKinds) {
      if (bytes <= array) {
        measure_access(lab, kind, arrays, bytes, blocks, threads);
      }
    }
  };
  for (std::size_t bytes = std::size_t{3} << 20; bytes <= array; bytes *= 2) {
    all_kinds(bytes, kFullBlocks, kThreads);
  }
  constexpr std::size_t kOccupancyBytes = std::size_t{768} << 20;
  for (const int threads : {32, 64, 128, 256, 512, 1024}) {
    all_kinds(kOccupancyBytes, 1, threads);
  }
  for (const int blocks : {2, 3, 4, 6}) {
    all_kinds(kOccupancyBytes, blocks, kThreads);
  }
}

}  // namespace mansard::measure
