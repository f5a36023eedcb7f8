#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/trace.hpp"
#include "traces/dataset/sqlite.hpp"

/// What a timeline says: where the time went, and whether the device or the host was waited for.
namespace mansard::traces {

/// Times of one name, in nanoseconds.
struct TimeRow {
  std::string name;
  std::string short_name;
  std::int64_t kernels = 0;
  std::int64_t total_ns = 0;
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::optional<double>
      occupancy;  ///< Mean over its time, in [0, 1]; by registers, shared memory, block.
  std::optional<double> waves;  ///< Likewise.
  std::optional<double>
      tail;  ///< Share of its time that its partial last waves leave processors idle.
};

/// One (device, stream).
struct StreamRow {
  std::int64_t run = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t kernels = 0;
  std::int64_t busy_ns = 0;
};

/// Time in which nothing ran on any device of a run, between its first and last activity.
struct IdleTime {
  std::int64_t gaps = 0;
  std::int64_t total_ns = 0;
  std::int64_t longest_ns = 0;
  std::int64_t host_ns = 0;  ///< The next launch had not been made yet.
  std::int64_t latency_ns =
      0;  ///< It had: the launch was on its way, or waited for another stream.
  std::int64_t unknown_ns = 0;  ///< Its launch is not in the file.
};

struct RunRow {
  std::int64_t id = 0;
  std::string file;
  std::string format;
  std::string producer;
  std::optional<std::int64_t> rank;
  bool clocks_locked = false;
  bool has_timeline = true;
  std::string broken;  ///< Why the file breaks off; "" if it does not.
  std::int64_t kernels = 0;
};

struct Summary {
  std::vector<RunRow> runs;
  std::vector<ir::TraceDevice> devices;
  std::int64_t kernels = 0;
  std::int64_t kernel_time_ns = 0;  ///< Sum over kernels, overlapping ones counted each.
  std::int64_t kernel_busy_ns = 0;  ///< Time in which at least one kernel ran.
  std::int64_t device_busy_ns = 0;  ///< Likewise of kernels, copies and memsets.
  std::int64_t span_ns = 0;  ///< From the first to the end of the last of them, summed over runs.
  std::int64_t linked = 0;
  std::int64_t unlinked = 0;
  std::int64_t in_op = 0;
  std::int64_t copies = 0;
  std::int64_t copy_time_ns = 0;
  std::int64_t copy_bytes = 0;
  std::int64_t memsets = 0;
  std::int64_t synchronisations = 0;
  std::int64_t launches = 0;
  std::int64_t ops = 0;
  IdleTime idle;
  std::vector<TimeRow> by_kernel;  ///< By total time, greatest first.
  std::vector<TimeRow> by_op;
  std::vector<StreamRow> streams;
  std::int64_t matched = 0;  ///< Kernels of the timeline with counters of another run.
  std::int64_t counter_kernels = 0;
};

[[nodiscard]] Result<Summary> summarise(Database& dataset);

/// The devices of a dataset, one a name.
[[nodiscard]] std::vector<ir::TraceDevice> devices_of(Database& dataset);

}  // namespace mansard::traces
