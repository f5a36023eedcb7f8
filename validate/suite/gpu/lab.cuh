#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "validate/measure/csv.hpp"
#include "validate/measure/options.hpp"
#include "validate/measure/protocol.hpp"
#include "validate/suite/gpu/graph.cuh"
#include "validate/suite/gpu/memory.cuh"
#include "validate/suite/gpu/nvml.hpp"

namespace mansard::measure {

/// What the runtime says of the device.
struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string pci_bus_id;
  int sms = 0;
  /// Compute capability: 90 for 9.0.
  int capability = 0;
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
  /// Most shared memory of one block, in bytes, after opting in.
  std::size_t shared_bytes = 0;
};

[[nodiscard]] DeviceInfo describe_device(int index);

/// A part that this device or this installation cannot run; the text says why.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How an op's operands are rotated so that it finds none of them in the L2.
struct Rotation {
  /// Copies of the operands to allocate and use in turn.
  int sets = 1;
  /// The copies together are smaller than three L2: empty it before each replay, and use each copy
  /// once.
  bool flush = false;
};

/// What is timed: `call(stream, turn)` enqueues one call on the operands of set `turn %
/// rotation.sets`.
struct Subject {
  std::function<void(cudaStream_t, int)> call;
  Rotation rotation;
  /// Most calls in one graph.
  int most_calls = 1500;
};

/// The times of one call in microseconds, and the state of the device during the trials.
struct Timing {
  Summary us;
  int calls = 0;
  DeviceState state;
};

/// The bench: one device, its memory, the budget and the file of results. Every measurement goes
/// through time().
class Lab {
 public:
  /// Checks the device (free memory, load of others), writes DIR/manifest.json and ramps the
  /// clocks.
  Lab(const Options& options, const std::string& file, std::span<const std::string_view> columns,
      Budget budget);

  [[nodiscard]] const DeviceInfo& device() const { return device_; }
  [[nodiscard]] Arena& arena() { return *arena_; }
  [[nodiscard]] const Stream& stream() const { return stream_; }
  [[nodiscard]] const Nvml& nvml() const { return nvml_; }
  [[nodiscard]] const Budget& budget() const { return budget_; }
  [[nodiscard]] const Options& options() const { return options_; }
  /// Most time for the trials of one row; set by who knows how many rows are to come.
  void allow(Seconds limit) { stop_.limit = limit; }

  /// Fills in the machine; true when the file holds that row already, or the budget is spent.
  [[nodiscard]] bool skips(Row& row) const;
  /// Whether operands of `bytes` together stay in the L2 from call to call (1.1 x L2 at most).
  [[nodiscard]] bool fits_l2(double bytes) const {
    constexpr double kSlack = 1.1;
    return bytes <= kSlack * static_cast<double>(device_.l2_bytes);
  }
  /// Cold operands of `bytes` together.
  [[nodiscard]] Rotation rotation(double bytes) const;
  /// Enqueues reads of other data until nothing else is left in the L2.
  void flush_l2() const { read_through(flush_, flush_bytes_, stream_); }
  /// Warm up, record a graph, take trials. With --profile, one marked call instead.
  [[nodiscard]] Timing time(const Subject& subject);
  /// Writes the row with its times and clocks, and says so on stderr.
  void record(Row row, const Timing& timing);
  /// A fresh seed for random data, the same for the same sequence of measurements.
  [[nodiscard]] std::uint64_t seed() { return ++seed_; }
  /// For timings that need no graph: fills in state and counts.
  [[nodiscard]] Timing timing_of(std::span<const double> samples, int calls) const;

 private:
  void check_device() const;
  void ramp_clocks();
  [[nodiscard]] Seconds rough_time(const Subject& subject);
  [[nodiscard]] Timing run_once(const Subject& subject);
  [[nodiscard]] std::vector<double> run_batch(const Graph& graph, const Subject& subject, int calls,
                                              int trials, DeviceState& state);

  Options options_;
  DeviceInfo device_;
  Nvml nvml_;
  std::string machine_;
  Budget budget_;
  ResultFile results_;
  Stream stream_;
  std::unique_ptr<Arena> arena_;
  std::byte* flush_ = nullptr;
  std::size_t flush_bytes_ = 0;
  StopCriterion stop_;
  unsigned marks_ = 0;
  std::uint64_t seed_ = 0;
};

/// What runs under one manifest: a name for messages, and the work, which records rows.
struct Job {
  std::string name;
  std::function<void(Lab&)> run;
  /// Whether the budget is shared out over the jobs' rows (one row a job) or kept by the job.
  bool one_row = false;
};

/// Runs the jobs, each failure apart (see isolate.hpp), until the budget is spent. Says on stderr
/// what failed, what was skipped and why. The program's exit code.
[[nodiscard]] int run_jobs(const Options& options, const std::string& file,
                           std::span<const std::string_view> columns, const std::vector<Job>& jobs);

}  // namespace mansard::measure
