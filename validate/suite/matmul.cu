#include <cmath>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "validate/suite/gpu/environment.cuh"
#include "validate/suite/matmul.cuh"

namespace mansard::measure {
namespace {

constexpr int kSamples = 64;

/// One sampled element: what was computed, what it should be, and the sum of the magnitudes that
/// went into it.
struct Sample {
  double found;
  double expected;
  double magnitude;
};

template <typename T>
__device__ double value(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<double>(x);
  } else {
    return static_cast<double>(static_cast<float>(x));
  }
}

/// One warp an element; the elements are spread over the whole of y by a large odd stride.
template <typename In, typename Out>
__global__ void sample_kernel(const In* x, const In* w, const Out* y, std::int64_t m,
                              std::int64_t n, std::int64_t k, std::int64_t batch, Sample* samples) {
  const std::uint64_t place = (blockIdx.x * 2654435761ull + 12345) % (m * n * batch);
  const std::int64_t b = place / (m * n);
  const std::int64_t row = place % (m * n) / n;
  const std::int64_t col = place % n;
  double sum = 0;
  double magnitude = 0;
  for (std::int64_t i = threadIdx.x; i < k; i += 32) {
    const double product = value(x[(b * m + row) * k + i]) * value(w[(b * n + col) * k + i]);
    sum += product;
    magnitude += fabs(product);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    sum += __shfl_xor_sync(~0u, sum, lanes);
    magnitude += __shfl_xor_sync(~0u, magnitude, lanes);
  }
  if (threadIdx.x == 0) {
    samples[blockIdx.x] = {value(y[place]), sum, magnitude};
  }
}

template <typename In, typename Out>
void sample(const MatmulShape& s, const void* x, const void* w, const void* y, Sample* samples,
            cudaStream_t stream) {
  sample_kernel<<<kSamples, 32, 0, stream>>>(static_cast<const In*>(x), static_cast<const In*>(w),
                                             static_cast<const Out*>(y), s.m, s.n, s.k, s.batch,
                                             samples);
  check_launch();
}

struct Checked {
  std::string_view dtype;
  std::string_view output;
  void (*sample)(const MatmulShape&, const void*, const void*, const void*, Sample*, cudaStream_t);
  /// Allowed error, of the output's rounding and of the root mean square of the accumulation.
  double of_value;
  double of_accumulation;
};

constexpr Checked kChecked[] = {
    {"bf16", "bf16", sample<__nv_bfloat16, __nv_bfloat16>, 1e-2, 1e-2},
    {"fp16", "fp16", sample<__half, __half>, 2e-3, 3e-3},
    {"fp8", "bf16", sample<__nv_fp8_e4m3, __nv_bfloat16>, 1e-2, 2e-2},
    {"tf32", "fp32", sample<float, float>, 1e-3, 5e-3},
    {"fp32", "fp32", sample<float, float>, 1e-5, 1e-4},
    {"int8", "int32", sample<std::int8_t, std::int32_t>, 0, 0},
};

const Checked& checked(std::string_view dtype) {
  for (const Checked& entry : kChecked) {
    if (entry.dtype == dtype) {
      return entry;
    }
  }
  throw UsageError("no matmul of dtype '" + std::string(dtype) + "'");
}

/// The operands of every set, and the one output.
struct Operands {
  std::byte* x;
  std::byte* w;
  std::byte* y;
  std::size_t w_bytes;
};

Operands make_operands(Lab& lab, const MatmulShape& shape, int sets) {
  const std::size_t element = element_bytes(shape.dtype);
  const std::size_t x_count = shape.batch * shape.m * shape.k;
  const std::size_t w_count = shape.batch * shape.n * shape.k;
  const std::size_t y_bytes =
      shape.batch * shape.m * shape.n * element_bytes(matmul_output(shape.dtype));
  const std::size_t w_stride = (w_count * element + 255) / 256 * 256;
  const Operands result{lab.arena().take(x_count * element), lab.arena().take(sets * w_stride),
                        lab.arena().take(y_bytes), w_stride};
  fill_random(shape.dtype, result.x, x_count, lab.seed(), lab.stream());
  for (int set = 0; set < sets; ++set) {
    fill_random(shape.dtype, result.w + set * w_stride, w_count, lab.seed(), lab.stream());
  }
  poison(result.y, y_bytes, lab.stream());
  return result;
}

Row identity(const Row& row, const MatmulShape& shape, bool warm) {
  Row result = row;
  result.set("implementation", cublaslt_name())
      .set("out_dtype", matmul_output(shape.dtype))
      .set("mode", "graph")
      .set("cache", warm ? "warm" : "cold");
  return warm ? result.set("flag", "fits_l2") : result;
}

}  // namespace

std::string_view matmul_output(std::string_view dtype) {
  return checked(dtype).output;
}

void check_matmul(const MatmulShape& shape, const void* x, const void* w, const void* y,
                  const Stream& stream) {
  const Checked& entry = checked(shape.dtype);
  Arena memory(kSamples * sizeof(Sample));
  auto* const samples = memory.take_array<Sample>(kSamples);
  entry.sample(shape, x, w, y, samples, stream);
  for (const Sample& s : download(samples, kSamples, stream)) {
    const double noise = s.magnitude / std::sqrt(static_cast<double>(shape.k));
    const double allowed = entry.of_value * std::abs(s.expected) + entry.of_accumulation * noise;
    if (!(std::abs(s.found - s.expected) <= allowed)) {
      throw DeviceError("wrong result: found " + std::to_string(s.found) + ", expected " +
                            std::to_string(s.expected) + " +- " + std::to_string(allowed),
                        std::source_location::current());
    }
  }
}

void measure_matmul(Lab& lab, const Row& row, bool warm) {
  const std::string dtype(row.text("dtype"));
  const MatmulShape shape{dtype, row.integer("m"), row.integer("n"), row.integer("k"),
                          row.integer_or("batch", 1)};
  Row measured = identity(row, shape, warm);
  const double w_bytes = static_cast<double>(shape.batch * shape.n * shape.k) *
                         static_cast<double>(element_bytes(dtype));
  if (lab.skips(measured) || (warm && !lab.fits_l2(w_bytes))) {
    return;
  }
  const Rotation rotation = warm ? Rotation{} : lab.rotation(w_bytes);
  std::byte* const workspace = lab.arena().take(Matmul::kWorkspaceBytes);
  const Matmul matmul(shape, workspace);
  const Operands operands = make_operands(lab, shape, rotation.sets);
  const auto call = [&](cudaStream_t stream, int turn) {
    matmul.run(operands.x, operands.w + turn * operands.w_bytes, operands.y, stream);
  };
  call(lab.stream(), 0);
  check_matmul(shape, operands.x, operands.w, operands.y, lab.stream());
  lab.record(measured, lab.time({call, rotation}));
}

}  // namespace mansard::measure
