#include <algorithm>
#include <vector>

#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr int kThreads = 1024;
constexpr int kIterations = 512;

/// Every block reads the whole footprint `repeats` times, each from another place on, past the L1.
__global__ void __launch_bounds__(kThreads)
    l2_read_kernel(const float4* data, std::size_t count, std::size_t share, float4* never) {
  float4 sum = make_float4(0, 0, 0, 0);
  std::size_t i = (std::size_t{blockIdx.x} * share + threadIdx.x) % count;
#pragma unroll 8
  for (std::size_t done = 0; done < share; done += kThreads) {
    const float4 v = __ldcg(data + i);
    sum.x += v.x + v.y + v.z + v.w;
    i += kThreads;
    i -= i >= count ? count : 0;
  }
  if (sum.x == 1.2345e30f) {
    *never = sum;
  }
}

/// Bytes that one sweep of all blocks reads, whatever the footprint.
constexpr std::size_t kSweepBytes = std::size_t{512} << 20;

void measure_l2(Lab& lab, const float4* data, std::size_t bytes) {
  const std::size_t count = bytes / sizeof(float4);
  const int blocks = 2 * lab.device().sms;
  const std::size_t share = kSweepBytes / sizeof(float4) / blocks / kThreads * kThreads;
  auto* const never = const_cast<float4*>(data);
  const auto call = [=](cudaStream_t stream, int) {
    l2_read_kernel<<<blocks, kThreads, 0, stream>>>(data, count, share, never);
    check_launch();
  };
  Row row{{"op", "l2_read"}, {"dtype", "fp32"}};
  row.set("bytes", static_cast<std::int64_t>(bytes)).set("threads", kThreads).set("blocks", 2);
  measure_rate(lab, row, {call, {}, 64},
               Rate::gigabytes(static_cast<double>(share * blocks * sizeof(float4))));
}

constexpr int kLines = 64;

struct SmLatencies {
  unsigned sm;
  unsigned cycles[kLines];
};

/// Cycles until the value is there: the store before the second reading of the clock waits for it.
__device__ unsigned timed_load(const unsigned* address, volatile unsigned* kept) {
  unsigned value = 0;
  const long long begin = clock64();
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  *kept = value;
  return static_cast<unsigned>(clock64() - begin);
}

/// One thread an SM: the same lines, brought into the L2 first, timed one by one.
__global__ void l2_latency_kernel(const unsigned* data, std::size_t stride, SmLatencies* out) {
  volatile __shared__ unsigned kept;
  SmLatencies& mine = out[blockIdx.x];
  asm volatile("mov.u32 %0, %%smid;" : "=r"(mine.sm));
  for (int pass = 0; pass < 3; ++pass) {
    for (int line = 0; line < kLines; ++line) {
      const unsigned cycles = timed_load(data + line * stride, &kept);
      mine.cycles[line] = pass > 0 && mine.cycles[line] < cycles ? mine.cycles[line] : cycles;
    }
  }
}

/// Means of the lines below and above the middle between the nearest and the farthest.
struct NearFar {
  double near = 0;
  double far = 0;
};

NearFar split(const SmLatencies& sm) {
  const auto [least, most] = std::ranges::minmax(sm.cycles);
  const double middle = (least + most) / 2.0;
  double sums[2] = {0, 0};
  int counts[2] = {0, 0};
  for (const unsigned cycles : sm.cycles) {
    const int side = cycles > middle ? 1 : 0;
    sums[side] += cycles;
    ++counts[side];
  }
  return {sums[0] / std::max(counts[0], 1), sums[1] / std::max(counts[1], 1)};
}

void record_partition(Lab& lab, unsigned sm, std::string_view side, double cycles) {
  constexpr double kAssumedMhz = 1500;
  Row row{{"op", "l2_latency"}, {"variant", side}, {"mode", "stream"}};
  row.set("sm", static_cast<std::int64_t>(sm));
  if (!begin_row(lab, row) || cycles <= 0) {
    return;
  }
  const double mhz = lab.nvml().sample().sm_mhz.value_or(kAssumedMhz);
  const double microseconds[] = {cycles / mhz};
  lab.record(row.set("value", cycles).set("unit", "cycle"), lab.timing_of(microseconds, kLines));
}

/// Shared memory or L1, `kShared`: each thread reads sixteen bytes an iteration, a warp 512 in a
/// row.
template <bool kShared>
__global__ void __launch_bounds__(kThreads) near_read_kernel(const float4* data, float4* out) {
  __shared__ float4 tile[2 * kThreads];
  const float4* const mine = data + std::size_t{blockIdx.x} * 2 * kThreads;
  for (int i = threadIdx.x; i < 2 * kThreads; i += kThreads) {
    tile[i] = mine[i];
  }
  __syncthreads();
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
  for (int i = 0; i < kIterations; ++i) {
    const int at = (threadIdx.x + i * 32) & (2 * kThreads - 1);
    float4 v;
    if constexpr (kShared) {
      const auto address = static_cast<unsigned>(__cvta_generic_to_shared(tile + at));
      asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                   : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                   : "r"(address));
    } else {
      asm volatile("ld.global.ca.v4.f32 {%0,%1,%2,%3}, [%4];"
                   : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                   : "l"(mine + at));
    }
    sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
  }
  out[std::size_t{blockIdx.x} * kThreads + threadIdx.x] = sum;
}

template <bool kShared>
void measure_near(Lab& lab, std::string_view op, const float4* data, float4* out) {
  const int blocks = 2 * lab.device().sms;
  const auto call = [=](cudaStream_t stream, int) {
    near_read_kernel<kShared><<<blocks, kThreads, 0, stream>>>(data, out);
    check_launch();
  };
  const double bytes = sizeof(float4) * static_cast<double>(kIterations) * kThreads * blocks;
  Row row{{"op", op}, {"dtype", "fp32"}};
  row.set("threads", kThreads).set("blocks", 2);
  measure_rate(lab, row, {call}, Rate::gigabytes(bytes));
}

/// Words `stride` apart for neighbouring lanes.
__global__ void __launch_bounds__(256) bank_kernel(int stride, float* out) {
  __shared__ float tile[4096];
  for (int i = threadIdx.x; i < 4096; i += 256) {
    tile[i] = static_cast<float>(i);
  }
  __syncthreads();
  float sum = 0;
  unsigned at = threadIdx.x * stride & 4095;
#pragma unroll 8
  for (int i = 0; i < kIterations; ++i) {
    float v = 0;
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(tile + at));
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
    sum += v;
    at = (at + 32) & 4095;
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

}  // namespace

void probe_l2(Lab& lab) {
  constexpr std::size_t kLargest = std::size_t{256} << 20;
  auto* const data = lab.arena().take_array<float4>(kLargest / sizeof(float4));
  fill_random("fp32", data, kLargest / sizeof(float), lab.seed(), lab.stream());
  for (std::size_t bytes = std::size_t{1} << 20; bytes <= kLargest;
       bytes += std::max<std::size_t>(bytes / 4 >> 20, 1) << 20) {
    measure_l2(lab, data, bytes);
  }
}

void probe_l2_partitions(Lab& lab) {
  constexpr std::size_t kStrideWords = 4096 / sizeof(unsigned) * 33;
  auto* const data = lab.arena().take_array<unsigned>(kStrideWords * kLines);
  const int sms = lab.device().sms;
  auto* const out = lab.arena().take_array<SmLatencies>(sms);
  fill_random("u32", data, kStrideWords * kLines, lab.seed(), lab.stream());
  l2_latency_kernel<<<sms, 1, 0, lab.stream()>>>(data, kStrideWords, out);
  check_launch();
  for (const SmLatencies& sm : download(out, sms, lab.stream())) {
    const NearFar halves = split(sm);
    record_partition(lab, sm.sm, "near", halves.near);
    record_partition(lab, sm.sm, "far", halves.far);
  }
}

void probe_shared(Lab& lab) {
  const std::size_t count = std::size_t{2} * kThreads * 2 * lab.device().sms;
  auto* const data = lab.arena().take_array<float4>(count);
  auto* const out = lab.arena().take_array<float4>(count);
  fill_random("fp32", data, 4 * count, lab.seed(), lab.stream());
  measure_near<true>(lab, "shared_read", data, out);
  measure_near<false>(lab, "l1_read", data, out);
}

void probe_banks(Lab& lab) {
  const int blocks = 8 * lab.device().sms;
  auto* const out = lab.arena().take_array<float>(std::size_t{256} * blocks);
  for (const int stride : {1, 2, 3, 4, 5, 8, 16, 17, 31, 32, 33, 64}) {
    const auto call = [=](cudaStream_t stream, int) {
      bank_kernel<<<blocks, 256, 0, stream>>>(stride, out);
      check_launch();
    };
    Row row{{"op", "bank_stride"}, {"dtype", "fp32"}};
    row.set("stride", stride).set("blocks", 8).set("threads", 256);
    measure_rate(lab, row, {call}, Rate::gigabytes(4.0 * kIterations * 256 * blocks));
  }
}

}  // namespace mansard::measure
