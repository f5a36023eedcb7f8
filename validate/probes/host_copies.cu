#include <vector>

#include "validate/probes/probe.cuh"

namespace mansard::measure {
namespace {

constexpr std::size_t kLargest = std::size_t{256} << 20;
constexpr int kTrials = 9;

/// Page-locked host memory.
class Pinned {
 public:
  explicit Pinned(std::size_t bytes) { check(cudaMallocHost(&data_, bytes)); }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// Events around copies in a stream; several small ones in a row share the pair.
void measure_copies(Lab& lab, Row row, std::size_t bytes,
                    const std::function<void(cudaStream_t)>& copy) {
  row.set("mode", "stream").set("bytes", static_cast<std::int64_t>(bytes));
  if (!begin_row(lab, row)) {
    return;
  }
  const int calls = bytes < (std::size_t{1} << 20) ? 20 : 1;
  const Event begin;
  const Event end;
  std::vector<double> samples;
  for (int trial = 0; trial <= kTrials; ++trial) {
    begin.record(lab.stream());
    for (int i = 0; i < calls; ++i) {
      copy(lab.stream());
    }
    end.record(lab.stream());
    lab.stream().wait();
    if (trial > 0) {
      samples.push_back(end.since(begin) / calls);
    }
  }
  const Timing timing = lab.timing_of(samples, calls);
  row.set("value", static_cast<double>(bytes) / timing.us.median * 1e-3).set("unit", "GB/s");
  lab.record(row, timing);
}

void measure_host(Lab& lab) {
  const Pinned host(kLargest);
  std::byte* const device = lab.arena().take(kLargest);
  fill_random("u32", device, kLargest / 4, lab.seed(), lab.stream());
  check(cudaMemcpyAsync(host.data(), device, kLargest, cudaMemcpyDeviceToHost, lab.stream()));
  for (std::size_t bytes = 4; bytes <= kLargest; bytes *= 8) {
    measure_copies(lab, {{"op", "h2d"}}, bytes, [&](cudaStream_t stream) {
      check(cudaMemcpyAsync(device, host.data(), bytes, cudaMemcpyHostToDevice, stream));
    });
    measure_copies(lab, {{"op", "d2h"}}, bytes, [&](cudaStream_t stream) {
      check(cudaMemcpyAsync(host.data(), device, bytes, cudaMemcpyDeviceToHost, stream));
    });
  }
}

/// The other device's memory; the own device is current again behind it.
class PeerMemory {
 public:
  PeerMemory(int own, int peer, std::size_t bytes) : own_(own), peer_(peer) {
    check(cudaSetDevice(peer));
    const cudaError_t result = cudaMalloc(&data_, bytes);
    check(cudaSetDevice(own));
    check(result);
  }
  ~PeerMemory() {
    cudaSetDevice(peer_);
    cudaFree(data_);
    cudaSetDevice(own_);
  }
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  int own_;
  int peer_;
  void* data_ = nullptr;
};

void measure_peers(Lab& lab) {
  int devices = 0;
  int direct = 0;
  check(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    throw Unsupported("copies between GPUs need two of them (host copies are done)");
  }
  const int own = lab.device().index;
  const int peer = own == 0 ? 1 : 0;
  check(cudaDeviceCanAccessPeer(&direct, own, peer));
  if (direct != 0) {
    check(cudaDeviceEnablePeerAccess(peer, 0));
  }
  const PeerMemory memory(own, peer, kLargest);
  std::byte* const device = lab.arena().take(kLargest);
  fill_random("u32", device, kLargest / 4, lab.seed(), lab.stream());
  for (std::size_t bytes = 4; bytes <= kLargest; bytes *= 8) {
    Row row{{"op", "peer_copy"}, {"variant", direct != 0 ? "direct" : "through the host"}};
    measure_copies(lab, row, bytes, [&](cudaStream_t stream) {
      check(cudaMemcpyPeerAsync(memory.data(), peer, device, own, bytes, stream));
    });
  }
}

}  // namespace

void probe_host_copies(Lab& lab) {
  measure_host(lab);
  measure_peers(lab);
}

}  // namespace mansard::measure
