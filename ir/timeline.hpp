#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/trace.hpp"

/// A trace in memory, for what needs it whole.
namespace mansard::ir {

/// A kernel, copy or memset. Times in nanoseconds.
struct Activity {
  std::int64_t id = 0;  ///< Of its row in the dataset; of its own kind.
  TraceEventKind kind = TraceEventKind::kKernel;
  std::int64_t run = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::string name;
  std::string op;          ///< The op that launched it: "aten::mm".
  std::string shapes;      ///< Dims of that op's inputs as JSON: "[[16,4096],[4096,4096]]".
  std::string dtypes;      ///< Their types as JSON.
  std::string collective;  ///< What the file says of a communication kernel, as JSON.
  std::string direction;   ///< Copies: "HtoD".
  std::int64_t bytes = 0;  ///< Copies and memsets.
  Extent grid{};
  std::optional<std::size_t> call;  ///< In `Timeline::calls`.

  [[nodiscard]] std::int64_t end_ns() const { return start_ns + duration_ns; }
};

/// A call of the runtime or driver.
struct HostCall {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  bool waits = false;  ///< Returns when the device has done something: cudaStreamSynchronize.
  std::string name;

  [[nodiscard]] std::int64_t end_ns() const { return start_ns + duration_ns; }
};

/// A wait that the profiler saw: of a stream for another one's event, or of a call of the host.
struct Wait {
  std::int64_t run = 0;
  std::int64_t device = 0;
  std::size_t call = 0;                        ///< That asked for it, in `Timeline::calls`.
  std::optional<std::int64_t> stream;          ///< That waits; nullopt: the host does, in `call`.
  std::optional<std::int64_t> awaited_stream;  ///< nullopt: all of the device.
  std::optional<std::size_t> recorded;  ///< Call that recorded the event; only work before counts.
};

struct Timeline {
  std::vector<Activity> activities;  ///< By run and start.
  std::vector<HostCall> calls;       ///< By run, thread and start.
  std::vector<Wait> waits;           ///< By run and start; what the file does not tell is missing.
  std::vector<std::string> devices;  ///< Names.
  std::map<std::int64_t, std::int64_t> world_sizes;  ///< Devices of the job, by run where known.
};

}  // namespace mansard::ir
