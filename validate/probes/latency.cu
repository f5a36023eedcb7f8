#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr int kSteps = 8192;
constexpr std::uint32_t kMostNodes = 1u << 20;
constexpr std::size_t kLine = 128;
/// Chains up to this long are walked once before the clock runs, so that they lie in the L1 if they
/// fit.
constexpr std::uint32_t kWarmNodes = 4096;

/// Where a chase goes on: each launch takes up where the one before stopped.
struct Cursor {
  std::byte* at;
  long long cycles;
};

__global__ void link_kernel(std::byte* base, const std::uint32_t* next, std::uint32_t nodes,
                            std::size_t stride, std::size_t jitter) {
  const auto place = [&](std::uint32_t node) {
    return base + node * stride + node * jitter % stride;
  };
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) {
    *reinterpret_cast<std::byte**>(place(i)) = place(next[i]);
  }
}

/// The next place of the chain; past the L1 where the L1 is not what is asked for.
template <bool kPastL1>
__device__ std::byte* follow(std::byte* at) {
  std::byte* next = nullptr;
  if constexpr (kPastL1) {
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
  } else {
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
  }
  return next;
}

/// One thread follows the chain.
template <bool kPastL1>
__global__ void chase_kernel(Cursor* cursor, int warm_up) {
  std::byte* at = cursor->at;
  for (int i = 0; i < warm_up; ++i) {
    at = follow<kPastL1>(at);
  }
  const long long begin = clock64();
#pragma unroll 16
  for (int i = 0; i < kSteps; ++i) {
    at = follow<kPastL1>(at);
  }
  cursor->cycles = clock64() - begin;
  cursor->at = at;
}

/// A permutation of one cycle (Sattolo), the same for the same length.
std::vector<std::uint32_t> one_cycle(std::uint32_t nodes) {
  std::vector<std::uint32_t> next(nodes);
  std::iota(next.begin(), next.end(), 0u);
  std::mt19937 random(nodes);
  for (std::uint32_t i = nodes - 1; i > 0; --i) {
    std::swap(next[i], next[random() % i]);
  }
  return next;
}

struct Chain {
  std::byte* base;
  std::uint32_t* next;
  Cursor* cursor;
};

void link(Lab& lab, const Chain& chain, std::uint32_t nodes, std::size_t stride,
          std::size_t jitter) {
  const std::vector<std::uint32_t> next = one_cycle(nodes);
  const Cursor start{chain.base, 0};
  check(cudaMemcpyAsync(chain.next, next.data(), nodes * sizeof next[0], cudaMemcpyHostToDevice,
                        lab.stream()));
  check(cudaMemcpyAsync(chain.cursor, &start, sizeof start, cudaMemcpyHostToDevice, lab.stream()));
  link_kernel<<<(nodes + 255) / 256, 256, 0, lab.stream()>>>(chain.base, chain.next, nodes, stride,
                                                             jitter);
  check_launch();
  // The links were just written: what does not fit is to come from memory, not by chance from the
  // L2.
  if (nodes * stride > lab.device().l2_bytes && nodes > kWarmNodes) {
    lab.flush_l2();
  }
  lab.stream().wait();
}

/// Times one chain of `nodes`, past the L1 when they are one a page (`jitter` spreads them); value:
/// cycles of a step; median_us: the whole step, launch excluded as far as kSteps drown it.
void measure_chain(Lab& lab, Row row, const Chain& chain, std::uint32_t nodes, std::size_t stride,
                   std::size_t jitter) {
  if (!begin_row(lab, row)) {
    return;
  }
  const bool by_pages = jitter != 0;
  link(lab, chain, nodes, stride, jitter);
  const int warm_up = nodes <= kWarmNodes ? static_cast<int>(nodes) : 0;
  constexpr int kTrials = 7;
  std::vector<double> cycles;
  std::vector<double> times;
  const Event begin;
  const Event end;
  for (int trial = 0; trial <= kTrials; ++trial) {
    begin.record(lab.stream());
    const auto kernel = by_pages ? chase_kernel<true> : chase_kernel<false>;
    kernel<<<1, 1, 0, lab.stream()>>>(chain.cursor, warm_up);
    check_launch();
    end.record(lab.stream());
    const Cursor cursor = download(chain.cursor, 1, lab.stream()).front();
    if (trial > 0) {
      cycles.push_back(static_cast<double>(cursor.cycles) / kSteps);
      times.push_back(end.since(begin) / (kSteps + warm_up));
    }
  }
  row.set("value", quantile(cycles, 0.5)).set("unit", "cycle");
  lab.record(row, lab.timing_of(times, kSteps));
}

}  // namespace

void probe_latency(Lab& lab) {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  constexpr std::size_t kBookkeeping = std::size_t{64} << 20;
  const Chain chain{nullptr, lab.arena().take_array<std::uint32_t>(kMostNodes),
                    lab.arena().take_array<Cursor>(1)};
  Chain here = chain;
  const std::size_t most = lab.arena().left() - kBookkeeping;
  here.base = lab.arena().take(most);
  for (std::size_t bytes = 4096; bytes <= most && bytes <= std::size_t{8} << 30;
       bytes += std::max<std::size_t>(bytes / 2 / kLine * kLine, kLine)) {
    const auto nodes = static_cast<std::uint32_t>(std::min<std::size_t>(bytes / kLine, kMostNodes));
    const std::size_t stride = bytes / nodes / kLine * kLine;
    Row row{{"op", "latency"}, {"variant", "pointer chase"}, {"mode", "stream"}};
    row.set("bytes", static_cast<std::int64_t>(bytes))
        .set("stride", static_cast<std::int64_t>(stride));
    measure_chain(lab, row, here, nodes, stride, 0);
  }
  for (std::size_t pages = 8; pages * kPage <= most; pages *= 2) {
    Row row{{"op", "latency"}, {"variant", "one line of each 2 MiB"}, {"mode", "stream"}};
    row.set("bytes", static_cast<std::int64_t>(pages * kPage))
        .set("stride", static_cast<std::int64_t>(kPage));
    measure_chain(lab, row, here, static_cast<std::uint32_t>(pages), kPage, 17 * kLine);
  }
}

}  // namespace mansard::measure
