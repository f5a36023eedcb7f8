#include <algorithm>
#include <cmath>

#include "validate/suite/own_op.cuh"
#include "validate/suite/vector.cuh"

namespace mansard::measure {
namespace {

using Role = Operand::Role;

constexpr float kEpsilon = 1e-5f;
constexpr int kCached = 4;
constexpr int kMostThreads = 1024;

enum class Norm { kRms, kLayer, kSoftmax };

struct SumOf {
  __device__ static float combine(float a, float b) { return a + b; }
};
struct MaxOf {
  __device__ static float combine(float a, float b) { return fmaxf(a, b); }
};

/// Over the block; every thread gets the result.
template <typename F>
__device__ float reduce(float value, float neutral) {
  __shared__ float partial[32];
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value = F::combine(value, __shfl_xor_sync(~0u, value, lanes));
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    partial[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : neutral;
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value = F::combine(value, __shfl_xor_sync(~0u, value, lanes));
  }
  return value;
}

/// One row in the hands of one block: from registers, or, when it is too long for them, read again
/// in each pass.
template <typename T, bool kInRegisters>
class RowOfBlock {
 public:
  static constexpr int kWidth = Vector<T>::kWidth;

  __device__ RowOfBlock(const T* row, int vectors) : row_(row), vectors_(vectors) {
    if constexpr (kInRegisters) {
#pragma unroll
      for (int i = 0; i < kCached; ++i) {
        const int v = threadIdx.x + i * blockDim.x;
        if (v < vectors_) {
          cache_[i] = load(row_, v);
        }
      }
    }
  }

  /// f(vector's index, vector)
  template <typename F>
  __device__ void each(F f) const {
    if constexpr (kInRegisters) {
#pragma unroll
      for (int i = 0; i < kCached; ++i) {
        const int v = threadIdx.x + i * blockDim.x;
        if (v < vectors_) {
          f(v, cache_[i]);
        }
      }
    } else {
      for (int v = threadIdx.x; v < vectors_; v += blockDim.x) {
        f(v, load(row_, v));
      }
    }
  }

  template <typename F>
  __device__ float sum(F f) const {
    float total = 0;
    each([&](int, const Vector<T>& x) {
      for (int lane = 0; lane < kWidth; ++lane) {
        total += f(static_cast<float>(x.lane[lane]));
      }
    });
    return reduce<SumOf>(total, 0);
  }

  __device__ float max() const {
    float most = -INFINITY;
    each([&](int, const Vector<T>& x) {
      for (int lane = 0; lane < kWidth; ++lane) {
        most = fmaxf(most, static_cast<float>(x.lane[lane]));
      }
    });
    return reduce<MaxOf>(most, -INFINITY);
  }

 private:
  const T* row_;
  int vectors_;
  Vector<T> cache_[kInRegisters ? kCached : 1];
};

template <Norm kNorm, typename T, bool kInRegisters>
__global__ void norm_kernel(const T* __restrict__ x, const T* __restrict__ gain, T* __restrict__ y,
                            int cols) {
  const RowOfBlock<T, kInRegisters> row(x + std::size_t{blockIdx.x} * cols,
                                        cols / Vector<T>::kWidth);
  T* const out = y + std::size_t{blockIdx.x} * cols;
  float shift = 0;
  float scale = 1;
  if constexpr (kNorm == Norm::kSoftmax) {
    shift = row.max();
    scale = 1 / row.sum([&](float v) { return __expf(v - shift); });
  } else {
    shift = kNorm == Norm::kLayer ? row.sum([](float v) { return v; }) / cols : 0;
    scale = rsqrtf(row.sum([&](float v) { return (v - shift) * (v - shift); }) / cols + kEpsilon);
  }
  row.each([&](int index, Vector<T> v) {
    Vector<T> g = {};
    if constexpr (kNorm != Norm::kSoftmax) {
      g = load(gain, index);
    }
    for (int lane = 0; lane < Vector<T>::kWidth; ++lane) {
      const float centred = static_cast<float>(v.lane[lane]) - shift;
      v.lane[lane] = static_cast<T>(kNorm == Norm::kSoftmax
                                        ? __expf(centred) * scale
                                        : centred * scale * static_cast<float>(g.lane[lane]));
    }
    store(out, index, v);
  });
}

template <Norm kNorm, typename T>
void launch_norm(const T* x, const T* gain, T* y, std::int64_t rows, int cols,
                 cudaStream_t stream) {
  const int vectors = cols / Vector<T>::kWidth;
  const int wanted = (vectors + kCached - 1) / kCached;
  const int threads = std::clamp((wanted + 31) / 32 * 32, 32, kMostThreads);
  const auto blocks = static_cast<unsigned>(rows);
  if (vectors <= kCached * threads) {
    norm_kernel<kNorm, T, true><<<blocks, threads, 0, stream>>>(x, gain, y, cols);
  } else {
    norm_kernel<kNorm, T, false><<<blocks, threads, 0, stream>>>(x, gain, y, cols);
  }
  check_launch();
}

std::vector<Operand> operands(const Row& row) {
  constexpr std::int64_t kMultiple = 8;
  const std::int64_t cols = row.integer("cols");
  if (cols % kMultiple != 0) {
    throw Unsupported("our row kernels need cols to be a multiple of 8, found " +
                      std::to_string(cols));
  }
  const std::size_t count = row.integer("rows") * cols;
  const std::string_view dtype = row.text("dtype");
  return {{dtype, count},
          {dtype, static_cast<std::size_t>(cols), Role::kShared},
          {dtype, count, Role::kOutput}};
}

template <Norm kNorm>
void launch(const Row& row, std::span<void* const> data, cudaStream_t stream) {
  with_type(row.text("dtype"), [&](auto* type) {
    using T = Pointee<decltype(type)>;
    launch_norm<kNorm>(static_cast<const T*>(data[0]), static_cast<const T*>(data[1]),
                       static_cast<T*>(data[2]), row.integer("rows"),
                       static_cast<int>(row.integer("cols")), stream);
  });
}

template <Norm kNorm>
void reference_row(const float* x, const float* gain, float* y, std::int64_t cols) {
  double shift = 0;
  double scale = 0;
  if (kNorm == Norm::kSoftmax) {
    shift = *std::max_element(x, x + cols);
  }
  if (kNorm == Norm::kLayer) {
    for (std::int64_t i = 0; i < cols; ++i) {
      shift += x[i] / static_cast<double>(cols);
    }
  }
  for (std::int64_t i = 0; i < cols; ++i) {
    const double v = x[i] - shift;
    scale += kNorm == Norm::kSoftmax ? std::exp(v) : v * v / static_cast<double>(cols);
  }
  for (std::int64_t i = 0; i < cols; ++i) {
    const double v = x[i] - shift;
    y[i] = static_cast<float>(kNorm == Norm::kSoftmax ? std::exp(v) / scale
                                                      : v / std::sqrt(scale + kEpsilon) * gain[i]);
  }
}

template <Norm kNorm>
void reference(const Row& row, HostTensors& tensors) {
  const std::int64_t cols = row.integer("cols");
  for (std::int64_t r = 0; r < row.integer("rows"); ++r) {
    reference_row<kNorm>(&tensors[0][r * cols], tensors[1].data(), &tensors[2][r * cols], cols);
  }
}

template <Norm kNorm>
OwnOp norm_op(std::string_view name) {
  return {name, operands, launch<kNorm>, reference<kNorm>, Row{{"rows", "5"}, {"cols", "1032"}}};
}

}  // namespace

std::span<const OwnOp> norm_ops() {
  static const OwnOp kOps[] = {norm_op<Norm::kRms>("rmsnorm"), norm_op<Norm::kLayer>("layernorm"),
                               norm_op<Norm::kSoftmax>("softmax")};
  return kOps;
}

}  // namespace mansard::measure
