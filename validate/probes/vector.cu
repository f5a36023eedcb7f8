#include "validate/probes/instructions.cuh"
#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr int kChains = 8;
constexpr int kThreads = 256;
constexpr int kBlocksOfSm = 8;

/// kChains independent chains a thread, enough warps to fill every issue slot.
template <typename Op>
__global__ void __launch_bounds__(kThreads) peak_kernel(typename Op::Value* out, int iterations) {
  using Value = typename Op::Value;
  Value x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    x[c] = static_cast<Value>(threadIdx.x * 37 + c * 11 + 1) * static_cast<Value>(1.25);
  }
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int repeat = 0; repeat < 8; ++repeat) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        Op::step(x[c]);
      }
    }
  }
  Value sum = x[0];
  for (int c = 1; c < kChains; ++c) {
    sum += x[c];
  }
  out[std::size_t{blockIdx.x} * kThreads + threadIdx.x] = sum;
}

template <typename Op>
void measure_peak(Lab& lab) {
  constexpr int kIterations = 1024;
  const int blocks = kBlocksOfSm * lab.device().sms;
  auto* const out = lab.arena().take_array<typename Op::Value>(std::size_t{kThreads} * blocks);
  const double ops = Op::kOps * 8 * kChains * kIterations * kThreads * blocks;
  const auto call = [=](cudaStream_t stream, int) {
    peak_kernel<Op><<<blocks, kThreads, 0, stream>>>(out, kIterations);
    check_launch();
  };
  const bool floating = Op::kDtype != "int32";
  Row row{{"op", "vector_peak"}, {"variant", Op::kName}, {"dtype", Op::kDtype}};
  measure_rate(lab, row, {call}, floating ? Rate::teraflops(ops) : Rate::teraops(ops));
}

}  // namespace

void probe_vector(Lab& lab) {
  measure_peak<Ffma>(lab);
  measure_peak<Hfma2>(lab);
  measure_peak<Bfma2>(lab);
  measure_peak<Dfma>(lab);
  measure_peak<Imad>(lab);
  measure_peak<Lop>(lab);
  measure_peak<Ex2>(lab);
  measure_peak<Rsqrt>(lab);
  measure_peak<Shuffle>(lab);
}

}  // namespace mansard::measure
