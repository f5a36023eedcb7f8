#include <algorithm>
#include <cstdio>

#include <cuda_profiler_api.h>

#include "validate/measure/manifest.hpp"
#include "validate/suite/gpu/environment.cuh"
#include "validate/suite/gpu/lab.cuh"

namespace mansard::measure {
namespace {

/// A replay should be long against the microseconds that starting it takes.
constexpr Seconds kReplay{3e-3};
constexpr int kMostSets = 1024;

double spread_percent(const Summary& us) {
  return 50 * (us.max - us.min) / us.median;
}

void enqueue(const Subject& subject, cudaStream_t stream, int calls) {
  for (int turn = 0; turn < calls; ++turn) {
    subject.call(stream, turn % subject.rotation.sets);
  }
}

/// Says in a profile which row the kernels behind it belong to: its grid is the row's number.
__global__ void mark_kernel() {}

void set_if(Row& row, std::string_view column, const std::optional<double>& value) {
  if (value) {
    row.set(column, *value);
  }
}

}  // namespace

DeviceInfo describe_device(int index) {
  cudaDeviceProp properties{};
  check(cudaSetDevice(index));
  check(cudaGetDeviceProperties(&properties, index));
  char bus[32] = "";
  check(cudaDeviceGetPCIBusId(bus, sizeof bus, index));
  return {index,
          properties.name,
          bus,
          properties.multiProcessorCount,
          10 * properties.major + properties.minor,
          static_cast<std::size_t>(properties.l2CacheSize),
          properties.totalGlobalMem,
          properties.sharedMemPerBlockOptin};
}

Lab::Lab(const Options& options, const std::string& file, std::span<const std::string_view> columns,
         Budget budget)
    : options_(options),
      device_(describe_device(options.device)),
      nvml_(device_.pci_bus_id),
      machine_(options.machine.empty() ? machine_id(device_.name) : options.machine),
      budget_(std::move(budget)),
      results_(options.out / file, columns, options.resume) {
  check_device();
  constexpr double kShareOfFree = 0.6;
  // A profiler that replays kernels saves what they may write.
  const std::size_t most_arena = std::size_t{options.profile ? 4u : 48u} << 30;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes));
  flush_bytes_ = 3 * device_.l2_bytes;
  check(cudaMalloc(&flush_, flush_bytes_));
  arena_ = std::make_unique<Arena>(std::min(
      most_arena, static_cast<std::size_t>(kShareOfFree * static_cast<double>(free_bytes))));
  fill_random("fp32", flush_, flush_bytes_ / sizeof(float), seed(), stream_);
  ramp_clocks();
  write_manifest(options_, machine_, device_, nvml_);
}

void Lab::check_device() const {
  constexpr double kIdleUtilization = 5;
  const DeviceState state = nvml_.sample();
  if (!nvml_.found()) {
    std::fprintf(stderr, "note: no libnvidia-ml: clocks and power are not recorded\n");
  }
  if (nvml_.utilization().value_or(0) > kIdleUtilization) {
    std::fprintf(stderr, "warning: the device is at work for others (%.0f %%)\n",
                 *nvml_.utilization());
  }
  if (!state.throttle.empty()) {
    std::fprintf(stderr, "note: before we start the clocks are held down: %s\n",
                 state.throttle.c_str());
  }
}

void Lab::ramp_clocks() {
  constexpr Seconds kRamp{0.3};
  const Seconds start = steady_now();
  while (steady_now() - start < kRamp) {
    for (int i = 0; i < 20; ++i) {
      flush_l2();
    }
    stream_.wait();
  }
}

bool Lab::skips(Row& row) const {
  row.set("machine", machine_);
  return results_.has(row) || budget_.spent();
}

Rotation Lab::rotation(double bytes) const {
  if (options_.profile) {
    return {};
  }
  const auto cache = static_cast<double>(device_.l2_bytes);
  const int sets = rotation_sets(bytes, cache, kMostSets);
  return {sets, sets * bytes < 3 * cache};
}

Seconds Lab::rough_time(const Subject& subject) {
  const Event begin;
  const Event end;
  const auto timed = [&](int calls, const std::function<void()>& work) {
    begin.record(stream_);
    work();
    end.record(stream_);
    stream_.wait();
    return Seconds(1e-6 * end.since(begin) / calls);
  };
  enqueue(subject, stream_, 1);
  stream_.wait();
  const Seconds eager = timed(2, [&] { enqueue(subject, stream_, 2); });
  constexpr Seconds kBoundByIssue{100e-6};
  if (eager > kBoundByIssue) {
    return eager;
  }
  const int few = std::min(32, subject.most_calls);
  const Graph graph(stream_, [&](cudaStream_t stream) { enqueue(subject, stream, few); });
  graph.launch(stream_);
  return timed(few, [&] { graph.launch(stream_); });
}

std::vector<double> Lab::run_batch(const Graph& graph, const Subject& subject, int calls,
                                   int trials, DeviceState& state) {
  std::vector<Event> begins(trials);
  std::vector<Event> ends(trials);
  for (int i = 0; i < trials; ++i) {
    if (subject.rotation.flush) {
      flush_l2();
    }
    begins[i].record(stream_);
    graph.launch(stream_);
    ends[i].record(stream_);
  }
  // Two thirds of the trials are over: this is the state that they run in, and no longer that of
  // what ran before.
  check(cudaEventSynchronize(begins[2 * trials / 3]));
  state = nvml_.sample();
  stream_.wait();
  std::vector<double> samples;
  for (int i = 0; i < trials; ++i) {
    samples.push_back(ends[i].since(begins[i]) / calls);
  }
  return samples;
}

Timing Lab::run_once(const Subject& subject) {
  const Event begin;
  const Event end;
  stream_.wait();
  check(cudaProfilerStart());
  mark_kernel<<<++marks_, 1, 0, stream_>>>();
  check_launch();
  begin.record(stream_);
  subject.call(stream_, 0);
  end.record(stream_);
  stream_.wait();
  check(cudaProfilerStop());
  const double samples[] = {end.since(begin)};
  return timing_of(samples, 1);
}

Timing Lab::time(const Subject& subject) {
  if (options_.profile) {
    return run_once(subject);
  }
  const int most = subject.rotation.flush ? std::min(subject.most_calls, subject.rotation.sets)
                                          : subject.most_calls;
  const int calls = calls_per_replay(rough_time(subject), kReplay, most);
  const Graph graph(stream_, [&](cudaStream_t stream) { enqueue(subject, stream, calls); });
  for (int warm_up = 0; warm_up < 2; ++warm_up) {
    graph.launch(stream_);
  }
  Timing timing;
  const std::vector<double> samples = take_trials(
      stop_, [&](int trials) { return run_batch(graph, subject, calls, trials, timing.state); });
  timing.us = summarize(samples);
  timing.calls = calls;
  return timing;
}

Timing Lab::timing_of(std::span<const double> samples, int calls) const {
  return {summarize(samples), calls, nvml_.sample()};
}

void Lab::record(Row row, const Timing& timing) {
  const std::string what = row.describe();
  row.set("machine", machine_)
      .set("median_us", timing.us.median)
      .set("min_us", timing.us.min)
      .set("max_us", timing.us.max)
      .set("trials", timing.us.trials)
      .set("calls", timing.calls)
      .set("throttle", timing.state.throttle)
      .set("source", "mansard-measure");
  if (options_.profile) {
    row.set("flag", std::string_view("profiled"));
  }
  set_if(row, "sm_mhz", timing.state.sm_mhz);
  set_if(row, "power_w", timing.state.power_w);
  set_if(row, "temp_c", timing.state.temperature_c);
  results_.append(row);
  std::fprintf(stderr, "  %10.3f us +-%4.1f%%  %s\n", timing.us.median, spread_percent(timing.us),
               what.c_str());
}

}  // namespace mansard::measure
