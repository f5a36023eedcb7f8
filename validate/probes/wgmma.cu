#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr int kThreads = 256;
constexpr int kRowBytes = 128;
constexpr int kColumns = 256;
constexpr int kRowsOfGroup = 64;
constexpr int kSharedBytes = (kColumns + 2 * kRowsOfGroup) * kRowBytes;
/// Instructions that one row of a tile feeds: 32 bytes of it each.
constexpr int kStepsOfRow = 4;

#define MANSARD_REGISTERS                                                        \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"                       \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"             \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"             \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"             \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"             \
  "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"             \
  "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111," \
  "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define MANSARD_FOUR(q, i) q(c[i]), q(c[i + 1]), q(c[i + 2]), q(c[i + 3])
#define MANSARD_ACCUMULATORS(q)                                                              \
  MANSARD_FOUR(q, 0), MANSARD_FOUR(q, 4), MANSARD_FOUR(q, 8), MANSARD_FOUR(q, 12),           \
      MANSARD_FOUR(q, 16), MANSARD_FOUR(q, 20), MANSARD_FOUR(q, 24), MANSARD_FOUR(q, 28),    \
      MANSARD_FOUR(q, 32), MANSARD_FOUR(q, 36), MANSARD_FOUR(q, 40), MANSARD_FOUR(q, 44),    \
      MANSARD_FOUR(q, 48), MANSARD_FOUR(q, 52), MANSARD_FOUR(q, 56), MANSARD_FOUR(q, 60),    \
      MANSARD_FOUR(q, 64), MANSARD_FOUR(q, 68), MANSARD_FOUR(q, 72), MANSARD_FOUR(q, 76),    \
      MANSARD_FOUR(q, 80), MANSARD_FOUR(q, 84), MANSARD_FOUR(q, 88), MANSARD_FOUR(q, 92),    \
      MANSARD_FOUR(q, 96), MANSARD_FOUR(q, 100), MANSARD_FOUR(q, 104), MANSARD_FOUR(q, 108), \
      MANSARD_FOUR(q, 112), MANSARD_FOUR(q, 116), MANSARD_FOUR(q, 120), MANSARD_FOUR(q, 124)

/// c[64,256] += a . b^T of one warpgroup, both operands in shared memory; `tail` holds the signs
/// and transpositions that the format's instruction has.
#define MANSARD_WGMMA(type, format, contraction, instruction, accumulator, constraint, tail)       \
  struct type {                                                                                    \
    using Accumulator = accumulator;                                                               \
    static constexpr std::string_view kDtype = format;                                             \
    static constexpr double kOps = 2.0 * kRowsOfGroup * kColumns * contraction;                    \
    __device__ static void step(Accumulator (&c)[128], std::uint64_t a, std::uint64_t b) {         \
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned." instruction \
                   " {" MANSARD_REGISTERS "}, %128, %129, p" tail ";}"                             \
                   : MANSARD_ACCUMULATORS(constraint)                                              \
                   : "l"(a), "l"(b));                                                              \
    }                                                                                              \
  };

MANSARD_WGMMA(Bf16, "bf16", 16, "m64n256k16.f32.bf16.bf16", float, "+f", ", 1, 1, 0, 0")
MANSARD_WGMMA(Fp16, "fp16", 16, "m64n256k16.f32.f16.f16", float, "+f", ", 1, 1, 0, 0")
MANSARD_WGMMA(Tf32, "tf32", 8, "m64n256k8.f32.tf32.tf32", float, "+f", ", 1, 1")
MANSARD_WGMMA(Fp8, "fp8", 32, "m64n256k32.f32.e4m3.e4m3", float, "+f", ", 1, 1")
MANSARD_WGMMA(Int8, "int8", 32, "m64n256k32.s32.s8.s8", std::int32_t, "+r", "")
#undef MANSARD_WGMMA
#undef MANSARD_ACCUMULATORS
#undef MANSARD_FOUR
#undef MANSARD_REGISTERS

/// Where an operand lies: rows of 128 bytes, swizzled over 128 bytes, groups of eight rows behind
/// each other.
__device__ std::uint64_t descriptor(std::uint32_t address) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t kGroupStride = std::uint64_t{8 * kRowBytes / 16} << 32;
  constexpr std::uint64_t kUnusedStride = std::uint64_t{1} << 16;
  return (address >> 4 & 0x3fff) | kUnusedStride | kGroupStride | kSwizzle128;
}

/// Random bits that are small finite numbers in every format.
__device__ std::uint32_t operand_bits(std::uint32_t seed) {
  std::uint32_t x = seed * 0x9e3779b1u;
  x ^= x >> 15;
  return (x & 0x87878787u) | 0x30303030u;
}

/// Two warpgroups of an SM, each with rows of its own, and the columns in common.
template <typename Op>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_kernel(typename Op::Accumulator* out, int iterations) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) std::uint32_t memory[];
  for (int i = threadIdx.x; i < kSharedBytes / 4; i += kThreads) {
    memory[i] = operand_bits(i + 1);
  }
  asm volatile("fence.proxy.async.shared::cta;");
  __syncthreads();
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  const std::uint64_t b = descriptor(base);
  const std::uint64_t a =
      descriptor(base + (kColumns + threadIdx.x / 128 * kRowsOfGroup) * kRowBytes);
  typename Op::Accumulator c[128] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kStepsOfRow; ++step) {
      Op::step(c, a + 2 * step, b + 2 * step);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  typename Op::Accumulator sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) {
    sum += c[i];
  }
  out[std::size_t{blockIdx.x} * kThreads + threadIdx.x] = sum;
#endif
}

template <typename Op>
void measure_peak(Lab& lab) {
  constexpr int kIterations = 1024;
  constexpr int kWarpgroups = kThreads / 128;
  const int blocks = lab.device().sms;
  auto* const out =
      lab.arena().take_array<typename Op::Accumulator>(std::size_t{kThreads} * blocks);
  check(cudaFuncSetAttribute(wgmma_kernel<Op>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kSharedBytes));
  const double ops = Op::kOps * kStepsOfRow * kIterations * kWarpgroups * blocks;
  const auto call = [=](cudaStream_t stream, int) {
    wgmma_kernel<Op><<<blocks, kThreads, kSharedBytes, stream>>>(out, kIterations);
    check_launch();
  };
  const bool floating = Op::kDtype != "int8";
  Row row{{"op", "matrix_peak"}, {"variant", "wgmma.m64n256"}, {"dtype", Op::kDtype}};
  measure_rate(lab, row, {call}, floating ? Rate::teraflops(ops) : Rate::teraops(ops));
}

/// The kernel is empty unless this program was compiled for compute capability 9.0a.
void require_hopper(const Lab& lab) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, wgmma_kernel<Bf16>));
  constexpr int kAccumulators = 128;
  if (lab.device().capability != 90 || attributes.numRegs < kAccumulators) {
    throw Unsupported("wgmma needs compute capability 9.0 and a build for 90a");
  }
}

}  // namespace

void probe_wgmma(Lab& lab) {
  require_hopper(lab);
  measure_peak<Bf16>(lab);
  measure_peak<Fp16>(lab);
  measure_peak<Tf32>(lab);
  measure_peak<Fp8>(lab);
  measure_peak<Int8>(lab);
}

}  // namespace mansard::measure
