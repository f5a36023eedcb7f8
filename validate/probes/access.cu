#include <cmath>
#include <vector>

#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr int kSize = 4096;
constexpr int kThreads = 128;
constexpr std::size_t kCount = std::size_t{kSize} * kSize;

/// Partial sums of the terms [first, first + terms) of sum i, `step` apart; the sums begin `apart`
/// from each other. Lanes hold neighbouring sums, so that apart = 1 is coalesced.
__global__ void sum_kernel(const float* x, float* y, std::size_t step, std::size_t apart,
                           int terms) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  const float* const first = x + i * apart + blockIdx.y * terms * step;
  float sum = 0;
#pragma unroll 8
  for (int term = 0; term < terms; ++term) {
    sum += first[term * step];
  }
  y[blockIdx.y * kSize + i] = sum;
}

struct Scan {
  std::string_view variant;
  /// Elements between the terms of a sum, and between the sums.
  std::size_t step;
  std::size_t apart;
};

constexpr Scan kScans[] = {{"columns, coalesced", kSize, 1}, {"rows, strided", 1, kSize}};

void launch(const Scan& scan, int parts, const float* x, float* y, cudaStream_t stream) {
  sum_kernel<<<dim3(kSize / kThreads, parts), kThreads, 0, stream>>>(x, y, scan.step, scan.apart,
                                                                     kSize / parts);
  check_launch();
}

void check_scan(Lab& lab, const Scan& scan, int parts, const float* x, float* y) {
  poison(y, parts * kSize * sizeof(float), lab.stream());
  launch(scan, parts, x, y, lab.stream());
  const std::vector<float> found = download(y, parts * kSize, lab.stream());
  const std::vector<float> values = download(x, std::size_t{kSize} * kSize, lab.stream());
  for (std::size_t i = 0; i < kSize; i += 97) {
    double sum = 0;
    for (int part = 0; part < parts; ++part) {
      sum += found[part * kSize + i];
    }
    double expected = 0;
    for (std::size_t term = 0; term < kSize; ++term) {
      expected += values[i * scan.apart + term * scan.step];
    }
    if (!(std::abs(sum - expected) < 1e-2)) {
      throw DeviceError("wrong sum", std::source_location::current());
    }
  }
}

void measure_scan(Lab& lab, const Scan& scan, int parts, const Rotation& rotation, const float* x,
                  float* y) {
  check_scan(lab, scan, parts, x, y);
  const auto call = [&](cudaStream_t stream, int turn) {
    launch(scan, parts, x + turn * kCount, y, stream);
  };
  Row row{{"op", "sum_4096x4096"}, {"variant", scan.variant}, {"dtype", "fp32"}};
  row.set("elements", static_cast<std::int64_t>(kCount))
      .set("threads", kThreads)
      .set("blocks", kSize / kThreads * parts);
  measure_rate(lab, row, {call, rotation}, Rate::gigabytes(4.0 * kCount));
}

}  // namespace

/// With one thread a sum (few threads, the lines of a strided scan stay in the L1), and with 64
/// (the chip full).
void probe_access(Lab& lab) {
  constexpr int kMostParts = 64;
  const Rotation rotation = lab.rotation(4.0 * kCount);
  auto* const x = lab.arena().take_array<float>(rotation.sets * kCount);
  auto* const y = lab.arena().take_array<float>(kMostParts * kSize);
  fill_random("fp32", x, rotation.sets * kCount, lab.seed(), lab.stream());
  for (const int parts : {1, kMostParts}) {
    for (const Scan& scan : kScans) {
      measure_scan(lab, scan, parts, rotation, x, y);
    }
  }
}

}  // namespace mansard::measure
