#include <vector>

#include "validate/probes/instructions.cuh"
#include "validate/probes/probe.cuh"
#include "validate/suite/mma.cuh"

namespace mansard::measure {
namespace {

constexpr int kSteps = 1024;
constexpr int kUnrolled = 64;

/// One warp; cycles of kSteps steps, each needing the one before.
template <typename Op>
__global__ void chain_kernel(typename Op::Value* out, long long* cycles) {
  typename Op::Value x = static_cast<typename Op::Value>(threadIdx.x + 1);
  for (int warm_up = 0; warm_up < kUnrolled; ++warm_up) {
    Op::step(x);
  }
  const long long begin = clock64();
  for (int i = 0; i < kSteps / kUnrolled; ++i) {
#pragma unroll
    for (int step = 0; step < kUnrolled; ++step) {
      Op::step(x);
    }
  }
  const long long end = clock64();
  out[threadIdx.x] = x;
  if (threadIdx.x == 0) {
    *cycles = end - begin;
  }
}

__global__ void mma_chain_kernel(float* out, long long* cycles) {
  float c[4] = {0, 0, 0, 0};
  const std::uint32_t bits = 0x3c003c00u + threadIdx.x;
  const std::uint32_t a[4] = {bits, bits, bits, bits};
  const long long begin = clock64();
  for (int i = 0; i < kSteps / kUnrolled; ++i) {
#pragma unroll
    for (int step = 0; step < kUnrolled; ++step) {
      mma_bf16(c, a, bits, bits);
    }
  }
  const long long end = clock64();
  out[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
  if (threadIdx.x == 0) {
    *cycles = end - begin;
  }
}

/// Each load gives the address of the next.
__global__ void shared_chain_kernel(std::uint32_t* out, long long* cycles) {
  __shared__ std::uint32_t next[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) {
    next[i] = (i + 32) & 1023;
  }
  __syncwarp();
  std::uint32_t at = threadIdx.x;
  const long long begin = clock64();
#pragma unroll 16
  for (int i = 0; i < kSteps; ++i) {
    at = next[at];
  }
  const long long end = clock64();
  out[threadIdx.x] = at;
  if (threadIdx.x == 0) {
    *cycles = end - begin;
  }
}

template <typename Launch>
void measure_chain(Lab& lab, std::string_view name, std::string_view dtype, Launch launch) {
  Row row{{"op", "dependent"}, {"variant", name}, {"dtype", dtype}};
  if (!begin_row(lab, row)) {
    return;
  }
  std::byte* const out = lab.arena().take(32 * sizeof(double));
  auto* const cycles = lab.arena().take_array<long long>(1);
  const auto call = [&](cudaStream_t stream, int) {
    launch(out, cycles, stream);
    check_launch();
  };
  const Timing timing = lab.time({call, {}, 64});
  const double taken = static_cast<double>(download(cycles, 1, lab.stream()).front());
  lab.record(row.set("value", taken / kSteps).set("unit", "cycle"), timing);
}

template <typename Op>
void measure_op(Lab& lab) {
  measure_chain(lab, Op::kName, Op::kDtype, [](void* out, long long* cycles, cudaStream_t stream) {
    chain_kernel<Op><<<1, 32, 0, stream>>>(static_cast<typename Op::Value*>(out), cycles);
  });
}

}  // namespace

void probe_dependent(Lab& lab) {
  measure_op<Ffma>(lab);
  measure_op<Fadd>(lab);
  measure_op<Hfma2>(lab);
  measure_op<Dfma>(lab);
  measure_op<Imad>(lab);
  measure_op<Lop>(lab);
  measure_op<Ex2>(lab);
  measure_op<Rsqrt>(lab);
  measure_op<Shuffle>(lab);
  measure_chain(lab, "lds", "int32", [](void* out, long long* cycles, cudaStream_t stream) {
    shared_chain_kernel<<<1, 32, 0, stream>>>(static_cast<std::uint32_t*>(out), cycles);
  });
  measure_chain(lab, "mma.m16n8k16", "bf16", [](void* out, long long* cycles, cudaStream_t stream) {
    mma_chain_kernel<<<1, 32, 0, stream>>>(static_cast<float*>(out), cycles);
  });
}

}  // namespace mansard::measure
