#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr int kChains = 4;
constexpr int kThreads = 256;
constexpr int kBlocksOfSm = 4;

#define MANSARD_MMA(type, name, format, shape, contraction, instruction, accumulator, constraint) \
  struct type {                                                                                   \
    using Accumulator = accumulator;                                                              \
    static constexpr std::string_view kName = name;                                               \
    static constexpr std::string_view kDtype = format;                                            \
    static constexpr double kOps = 2.0 * 16 * 8 * contraction;                                    \
    __device__ static void step(Accumulator (&c)[4], const std::uint32_t (&a)[4],                 \
                                const std::uint32_t (&b)[2]) {                                    \
      asm volatile("mma.sync.aligned." shape "." instruction                                      \
                   " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                       \
                   : "+" constraint(c[0]), "+" constraint(c[1]), "+" constraint(c[2]),            \
                     "+" constraint(c[3])                                                         \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));           \
    }                                                                                             \
  };

MANSARD_MMA(MmaBf16, "mma.m16n8k16", "bf16", "m16n8k16", 16, "row.col.f32.bf16.bf16.f32", float,
            "f")
MANSARD_MMA(MmaFp16, "mma.m16n8k16", "fp16", "m16n8k16", 16, "row.col.f32.f16.f16.f32", float, "f")
MANSARD_MMA(MmaTf32, "mma.m16n8k8", "tf32", "m16n8k8", 8, "row.col.f32.tf32.tf32.f32", float, "f")
MANSARD_MMA(MmaInt8, "mma.m16n8k32", "int8", "m16n8k32", 32, "row.col.s32.s8.s8.s32", std::int32_t,
            "r")
#undef MANSARD_MMA

/// mma.m16n8k32 of e4m3 exists from compute capability 8.9.
struct MmaFp8 {
  using Accumulator = float;
  static constexpr std::string_view kName = "mma.m16n8k32";
  static constexpr std::string_view kDtype = "fp8";
  static constexpr double kOps = 2.0 * 16 * 8 * 32;
  __device__ static void step(float (&c)[4], const std::uint32_t (&a)[4],
                              const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 890
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }
};

/// Random operand bits with small exponents, so that sums stay finite.
__device__ std::uint32_t operand_bits(std::uint32_t seed) {
  std::uint32_t x = seed * 0x9e3779b1u;
  x ^= x >> 15;
  return (x & 0x87878787u) | 0x30303030u;
}

template <typename Op>
__global__ void __launch_bounds__(kThreads)
    peak_kernel(typename Op::Accumulator* out, int iterations) {
  typename Op::Accumulator c[kChains][4] = {};
  std::uint32_t a[4];
  std::uint32_t b[2];
  for (int i = 0; i < 4; ++i) {
    a[i] = operand_bits(threadIdx.x * 6 + i + 1);
  }
  for (int i = 0; i < 2; ++i) {
    b[i] = operand_bits(threadIdx.x * 6 + i + 5);
  }
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int repeat = 0; repeat < 4; ++repeat) {
#pragma unroll
      for (int chain = 0; chain < kChains; ++chain) {
        Op::step(c[chain], a, b);
      }
    }
  }
  typename Op::Accumulator sum = 0;
  for (int chain = 0; chain < kChains; ++chain) {
    sum += c[chain][0] + c[chain][1] + c[chain][2] + c[chain][3];
  }
  out[std::size_t{blockIdx.x} * kThreads + threadIdx.x] = sum;
}

template <typename Op>
void measure_peak(Lab& lab) {
  constexpr int kIterations = 512;
  const int blocks = kBlocksOfSm * lab.device().sms;
  auto* const out =
      lab.arena().take_array<typename Op::Accumulator>(std::size_t{kThreads} * blocks);
  const double ops = Op::kOps * 4 * kChains * kIterations * (kThreads / 32) * blocks;
  const auto call = [=](cudaStream_t stream, int) {
    peak_kernel<Op><<<blocks, kThreads, 0, stream>>>(out, kIterations);
    check_launch();
  };
  Row row{{"op", "matrix_peak"}, {"variant", Op::kName}, {"dtype", Op::kDtype}};
  const bool floating = Op::kDtype != "int8";
  measure_rate(lab, row, {call}, floating ? Rate::teraflops(ops) : Rate::teraops(ops));
}

}  // namespace

void probe_matrix(Lab& lab) {
  constexpr int kFirstFp8 = 89;
  measure_peak<MmaBf16>(lab);
  measure_peak<MmaFp16>(lab);
  measure_peak<MmaTf32>(lab);
  measure_peak<MmaInt8>(lab);
  if (lab.device().capability >= kFirstFp8) {
    measure_peak<MmaFp8>(lab);
  }
}

}  // namespace mansard::measure
