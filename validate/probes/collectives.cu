#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include <cuda_bf16.h>

#include "validate/probes/nccl.hpp"
#include "validate/probes/probe.cuh"
#include "validate/suite/gpu/environment.cuh"

namespace mansard::measure {
namespace {

using Element = __nv_bfloat16;

constexpr int kTrials = 9;
constexpr std::size_t kLargest = std::size_t{512} << 20;

/// One GPU's part: its own thread, stream and buffers of kLargest.
struct Rank {
  int index = 0;
  int count = 0;
  NcclComm comm = nullptr;
  std::unique_ptr<Stream> stream;
  Element* send = nullptr;
  Element* receive = nullptr;
};

/// `message` elements are the full message: what all_gather gathers, what reduce_scatter scatters,
/// what each rank sends in all_to_all.
struct Collective {
  std::string_view op;
  void (*run)(const Nccl&, const Rank&, std::size_t message, cudaStream_t);
  /// What the first element received by the last rank is, in units of the first element of a chunk
  /// that all ranks sent alike, and which of its own message's chunks that was.
  double (*factor)(int ranks);
  int (*chunk)(int ranks);
};

void run_all_reduce(const Nccl& nccl, const Rank& r, std::size_t n, cudaStream_t stream) {
  nccl.all_reduce(r.send, r.receive, n, r.comm, stream);
}
void run_all_gather(const Nccl& nccl, const Rank& r, std::size_t n, cudaStream_t stream) {
  nccl.all_gather(r.send, r.receive, n / r.count, r.comm, stream);
}
void run_reduce_scatter(const Nccl& nccl, const Rank& r, std::size_t n, cudaStream_t stream) {
  nccl.reduce_scatter(r.send, r.receive, n / r.count, r.comm, stream);
}
void run_all_to_all(const Nccl& nccl, const Rank& r, std::size_t n, cudaStream_t stream) {
  const std::size_t part = n / r.count;
  nccl.group_start();
  for (int peer = 0; peer < r.count; ++peer) {
    nccl.send(r.send + peer * part, part, peer, r.comm, stream);
    nccl.receive(r.receive + peer * part, part, peer, r.comm, stream);
  }
  nccl.group_end();
}
/// From the first to the last rank.
void run_send_recv(const Nccl& nccl, const Rank& r, std::size_t n, cudaStream_t stream) {
  if (r.index == 0) {
    nccl.send(r.send, n, r.count - 1, r.comm, stream);
  } else if (r.index == r.count - 1) {
    nccl.receive(r.receive, n, 0, r.comm, stream);
  }
}

double once(int) {
  return 1;
}
double of_all(int ranks) {
  return ranks;
}
int first_chunk(int) {
  return 0;
}
int last_chunk(int ranks) {
  return ranks - 1;
}

constexpr Collective kCollectives[] = {
    {"all_reduce", run_all_reduce, of_all, first_chunk},
    {"all_gather", run_all_gather, once, first_chunk},
    {"reduce_scatter", run_reduce_scatter, of_all, last_chunk},
    {"all_to_all", run_all_to_all, once, last_chunk},
    {"send_recv", run_send_recv, once, first_chunk},
};

/// The GPUs and their communicator.
class Ring {
 public:
  Ring(Lab& lab, int count) : own_(lab.device().index), ranks_(count) {
    std::vector<int> devices(count);
    std::vector<NcclComm> comms(count);
    for (int i = 0; i < count; ++i) {
      devices[i] = i;
    }
    nccl_.init(comms.data(), count, devices.data());
    for (int i = 0; i < count; ++i) {
      check(cudaSetDevice(i));
      ranks_[i].index = i;
      ranks_[i].count = count;
      ranks_[i].comm = comms[i];
      ranks_[i].stream = std::make_unique<Stream>();
      check(cudaMalloc(&ranks_[i].send, kLargest));
      check(cudaMalloc(&ranks_[i].receive, kLargest));
      constexpr std::uint64_t kSameOnAll = 99;
      fill_random("bf16", ranks_[i].send, kLargest / sizeof(Element), kSameOnAll,
                  *ranks_[i].stream);
      ranks_[i].stream->wait();
    }
    check(cudaSetDevice(own_));
  }

  ~Ring() {
    for (const Rank& rank : ranks_) {
      cudaSetDevice(rank.index);
      cudaFree(rank.send);
      cudaFree(rank.receive);
    }
    cudaSetDevice(own_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// `work(rank)` on a thread for each GPU; the first failure is thrown here.
  template <typename Work>
  void each(Work work) {
    std::vector<std::exception_ptr> failures(ranks_.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          check(cudaSetDevice(static_cast<int>(i)));
          work(ranks_[i]);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (const std::exception_ptr& failure : failures) {
      if (failure) {
        std::rethrow_exception(failure);
      }
    }
  }

  [[nodiscard]] const Nccl& nccl() const { return nccl_; }
  [[nodiscard]] int count() const { return static_cast<int>(ranks_.size()); }

 private:
  Nccl nccl_;
  int own_;
  std::vector<Rank> ranks_;
};

/// Runs it once and looks at what the last rank got.
void check_collective(Ring& ring, const Collective& collective, std::size_t message) {
  ring.each([&](const Rank& rank) {
    poison(rank.receive, message * sizeof(Element), *rank.stream);
    collective.run(ring.nccl(), rank, message, *rank.stream);
    rank.stream->wait();
    if (rank.index != rank.count - 1) {
      return;
    }
    const std::size_t part = message / rank.count;
    const float sent =
        download(rank.send + collective.chunk(rank.count) * part, 1, *rank.stream).front();
    const float got = download(rank.receive, 1, *rank.stream).front();
    const double expected = collective.factor(rank.count) * sent;
    constexpr double kTolerance = 2e-2;
    if (!(std::abs(got - expected) <= kTolerance * std::abs(expected))) {
      throw DeviceError(std::string(collective.op) + " is wrong: found " + std::to_string(got) +
                            ", expected " + std::to_string(expected),
                        std::source_location::current());
    }
  });
}

/// Calls in one trial: enough to drown the start, few enough for large messages.
int calls_for(std::size_t bytes) {
  constexpr double kBytesOfTrial = 4e9;
  return static_cast<int>(std::clamp(kBytesOfTrial / static_cast<double>(bytes), 4.0, 100.0));
}

/// Microseconds of a call as the first rank sees it; all ranks begin together.
std::vector<double> time_collective(Ring& ring, const Collective& collective, std::size_t message,
                                    bool as_graph) {
  const int calls = calls_for(message * sizeof(Element));
  std::barrier together(ring.count());
  std::vector<double> samples;
  ring.each([&](const Rank& rank) {
    const auto all = [&](cudaStream_t stream) {
      for (int i = 0; i < calls; ++i) {
        collective.run(ring.nccl(), rank, message, stream);
      }
    };
    std::unique_ptr<Graph> graph;
    if (as_graph) {
      graph = std::make_unique<Graph>(*rank.stream, all);
    }
    const Event begin;
    const Event end;
    for (int trial = 0; trial <= kTrials; ++trial) {
      together.arrive_and_wait();
      begin.record(*rank.stream);
      as_graph ? graph->launch(*rank.stream) : all(*rank.stream);
      end.record(*rank.stream);
      rank.stream->wait();
      if (trial > 0 && rank.index == 0) {
        samples.push_back(end.since(begin) / calls);
      }
    }
  });
  return samples;
}

void measure_collective(Lab& lab, Ring& ring, const Collective& collective, std::size_t bytes,
                        bool as_graph) {
  const std::string version = nccl_version();
  Row row{{"op", collective.op}, {"dtype", "bf16"}, {"mode", as_graph ? "graph" : "stream"}};
  row.set("implementation", "nccl-" + version.substr(0, version.rfind('.')))
      .set("gpus", ring.count())
      .set("bytes", static_cast<std::int64_t>(bytes));
  if (!begin_row(lab, row)) {
    return;
  }
  const std::vector<double> samples =
      time_collective(ring, collective, bytes / sizeof(Element), as_graph);
  const Timing timing = lab.timing_of(samples, calls_for(bytes));
  row.set("value", static_cast<double>(bytes) / timing.us.median * 1e-3).set("unit", "GB/s");
  lab.record(row, timing);
}

}  // namespace

void probe_collectives(Lab& lab) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    throw Unsupported("collectives need two GPUs, there is " + std::to_string(devices));
  }
  // A program that uses NVLink multicast can harm what others run on the same host: off unless
  // asked for.
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  Ring ring(lab, devices);
  for (const Collective& collective : kCollectives) {
    check_collective(ring, collective, std::size_t{1} << 20);
    for (std::size_t bytes = 1024; bytes <= kLargest; bytes *= 4) {
      for (const bool as_graph : {true, false}) {
        measure_collective(lab, ring, collective, bytes, as_graph);
      }
    }
  }
}

}  // namespace mansard::measure
