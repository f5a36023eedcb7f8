#include <cmath>
#include <vector>

#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr int kSize = 4096;
constexpr int kThreads = 128;

/// One thread a column: neighbouring lanes read neighbouring words.
__global__ void sum_columns_kernel(const float* x, float* y) {
  const int col = blockIdx.x * kThreads + threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int row = 0; row < kSize; ++row) {
    sum += x[std::size_t{static_cast<unsigned>(row)} * kSize + col];
  }
  y[col] = sum;
}

/// One thread a row: neighbouring lanes are a row apart.
__global__ void sum_rows_kernel(const float* x, float* y) {
  const int row = blockIdx.x * kThreads + threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int col = 0; col < kSize; ++col) {
    sum += x[std::size_t{static_cast<unsigned>(row)} * kSize + col];
  }
  y[row] = sum;
}

struct Scan {
  std::string_view variant;
  void (*kernel)(const float*, float*);
  /// Elements between the terms of a sum, and between the sums.
  std::size_t step;
  std::size_t apart;
};

constexpr Scan kScans[] = {{"columns, coalesced", sum_columns_kernel, kSize, 1},
                           {"rows, strided", sum_rows_kernel, 1, kSize}};

void check_scan(Lab& lab, const Scan& scan, const float* x, float* y) {
  poison(y, kSize * sizeof(float), lab.stream());
  scan.kernel<<<kSize / kThreads, kThreads, 0, lab.stream()>>>(x, y);
  check_launch();
  const std::vector<float> found = download(y, kSize, lab.stream());
  const std::vector<float> values = download(x, std::size_t{kSize} * kSize, lab.stream());
  for (std::size_t i = 0; i < kSize; i += 97) {
    double expected = 0;
    for (std::size_t term = 0; term < kSize; ++term) {
      expected += values[i * scan.apart + term * scan.step];
    }
    if (!(std::abs(found[i] - expected) < 1e-2)) {
      throw DeviceError("wrong sum", std::source_location::current());
    }
  }
}

}  // namespace

void probe_access(Lab& lab) {
  constexpr std::size_t kCount = std::size_t{kSize} * kSize;
  constexpr double kBytes = 4.0 * kCount;
  const Rotation rotation = lab.rotation(kBytes);
  auto* const x = lab.arena().take_array<float>(rotation.sets * kCount);
  auto* const y = lab.arena().take_array<float>(kSize);
  fill_random("fp32", x, rotation.sets * kCount, lab.seed(), lab.stream());
  for (const Scan& scan : kScans) {
    check_scan(lab, scan, x, y);
    const auto call = [&](cudaStream_t stream, int turn) {
      scan.kernel<<<kSize / kThreads, kThreads, 0, stream>>>(x + turn * kCount, y);
      check_launch();
    };
    Row row{{"op", "sum_4096x4096"}, {"variant", scan.variant}, {"dtype", "fp32"}};
    row.set("elements", static_cast<std::int64_t>(kCount)).set("threads", kThreads);
    measure_rate(lab, row, {call, rotation}, Rate::gigabytes(kBytes));
  }
}

}  // namespace mansard::measure
