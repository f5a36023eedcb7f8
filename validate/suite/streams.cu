#include <cmath>

#include "validate/suite/own_op.cuh"
#include "validate/suite/vector.cuh"

namespace mansard::measure {
namespace {

using Role = Operand::Role;

constexpr int kThreads = 256;
constexpr float kScale = 0.5f;

struct Copy {
  static constexpr int kInputs = 1;
  __host__ __device__ static float apply(float a, float) { return a; }
};
struct Add {
  static constexpr int kInputs = 2;
  __host__ __device__ static float apply(float a, float b) { return a + b; }
};
struct Triad {
  static constexpr int kInputs = 2;
  __host__ __device__ static float apply(float a, float b) { return a + kScale * b; }
};
struct Fill {
  static constexpr int kInputs = 0;
  __host__ __device__ static float apply(float, float) { return kScale; }
};
/// The tanh form.
struct Gelu {
  static constexpr int kInputs = 1;
  __host__ __device__ static float apply(float a, float) {
    return 0.5f * a * (1 + tanhf(0.79788456f * (a + 0.044715f * a * a * a)));
  }
};
struct SiluMul {
  static constexpr int kInputs = 2;
  __host__ __device__ static float apply(float a, float b) { return a / (1 + expf(-a)) * b; }
};

template <typename F, typename T>
__device__ T combine(const T& a, const T& b) {
  return static_cast<T>(F::apply(static_cast<float>(a), static_cast<float>(b)));
}

/// Each block takes kUnroll x kThreads vectors, all loads before the first store; the last block's
/// stray elements go one by one.
template <typename F, typename T, int kUnroll>
__global__ void __launch_bounds__(kThreads)
    stream_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y,
                  std::size_t count) {
  const std::size_t vectors = count / Vector<T>::kWidth;
  const std::size_t first = std::size_t{blockIdx.x} * kThreads * kUnroll + threadIdx.x;
  Vector<T> va[kUnroll] = {};
  Vector<T> vb[kUnroll] = {};
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::size_t i = first + u * kThreads;
    if (i < vectors) {
      if constexpr (F::kInputs > 0) {
        va[u] = load(a, i);
      }
      if constexpr (F::kInputs > 1) {
        vb[u] = load(b, i);
      }
    }
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::size_t i = first + u * kThreads;
#pragma unroll
    for (int lane = 0; lane < Vector<T>::kWidth; ++lane) {
      va[u].lane[lane] = combine<F>(va[u].lane[lane], vb[u].lane[lane]);
    }
    if (i < vectors) {
      store(y, i, va[u]);
    }
  }
  const std::size_t stray = vectors * Vector<T>::kWidth + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && stray < count) {
    y[stray] = combine<F>(F::kInputs > 0 ? a[stray] : T(), F::kInputs > 1 ? b[stray] : T());
  }
}

template <typename F, typename T>
void launch_stream(const T* a, const T* b, T* y, std::size_t count, cudaStream_t stream) {
  constexpr std::size_t kLarge = std::size_t{8} << 20;
  const std::size_t vectors = count / Vector<T>::kWidth;
  const auto blocks = [&](int unroll) {
    return static_cast<unsigned>(
        std::max<std::size_t>(1, (vectors + unroll * kThreads - 1) / (unroll * kThreads)));
  };
  if (count * sizeof(T) >= kLarge) {
    stream_kernel<F, T, 4><<<blocks(4), kThreads, 0, stream>>>(a, b, y, count);
  } else {
    stream_kernel<F, T, 1><<<blocks(1), kThreads, 0, stream>>>(a, b, y, count);
  }
  check_launch();
}

/// `elements`, or `rows` x `cols`.
std::size_t elements(const Row& row) {
  return row.has("elements") ? row.integer("elements") : row.integer("rows") * row.integer("cols");
}

template <typename F>
std::vector<Operand> operands(const Row& row) {
  std::vector<Operand> result(F::kInputs, {row.text("dtype"), elements(row)});
  result.push_back({row.text("dtype"), elements(row), Role::kOutput});
  return result;
}

template <typename F>
void launch(const Row& row, std::span<void* const> data, cudaStream_t stream) {
  with_type(row.text("dtype"), [&](auto* type) {
    using T = Pointee<decltype(type)>;
    const T* const a = F::kInputs > 0 ? static_cast<T*>(data[0]) : nullptr;
    const T* const b = F::kInputs > 1 ? static_cast<T*>(data[1]) : nullptr;
    launch_stream<F>(a, b, static_cast<T*>(data[F::kInputs]), elements(row), stream);
  });
}

template <typename F>
void reference(const Row&, HostTensors& tensors) {
  std::vector<float>& y = tensors.back();
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = F::apply(F::kInputs > 0 ? tensors[0][i] : 0, F::kInputs > 1 ? tensors[1][i] : 0);
  }
}

template <typename F>
OwnOp stream_op(std::string_view name) {
  return {name, operands<F>, launch<F>, reference<F>, Row{{"elements", "10007"}}};
}

}  // namespace

std::span<const OwnOp> stream_ops() {
  static const OwnOp kOps[] = {stream_op<Copy>("copy"),   stream_op<Add>("add"),
                               stream_op<Triad>("triad"), stream_op<Fill>("fill"),
                               stream_op<Gelu>("gelu"),   stream_op<SiluMul>("silu_mul")};
  return kOps;
}

}  // namespace mansard::measure
