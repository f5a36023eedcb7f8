#pragma once

#include <functional>

#include "validate/suite/gpu/check.cuh"

namespace mansard::measure {

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream)); }
  operator cudaEvent_t() const { return event_; }
  /// Microseconds from `begin` to this one; both must have passed.
  [[nodiscard]] double since(const Event& begin) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin.event_, event_));
    return 1e3 * ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A recorded sequence of device work, ready to replay.
class Graph {
 public:
  /// Records what `work` enqueues on the stream. What it throws passes through, the stream usable
  /// again.
  Graph(cudaStream_t stream, const std::function<void(cudaStream_t)>& work);
  /// Takes over a graph built by hand.
  explicit Graph(cudaGraph_t graph);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream)); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace mansard::measure
