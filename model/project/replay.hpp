#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/timeline.hpp"

/// A trace on another machine.
namespace mansard::model {

/// What the model says of one kernel on a machine, in seconds.
struct ModelTimes {
  double bound = 0;
  double low = 0;
  double estimate = 0;
  double high = 0;
};

struct ProjectedTime {
  double seconds = 0;
  double low = 0;
  double high = 0;
};

/// measured * to.estimate / from.estimate: what the model does not explain of the measurement (its
/// residual) is kept. Never below the bound on the new machine. The interval is that of the model
/// there. Estimates must be positive.
[[nodiscard]] ProjectedTime project_time(double measured, const ModelTimes& from,
                                         const ModelTimes& to);

struct ReplayOptions {
  double host_scale = 1;  ///< Time of the host on the new machine over its time on the old.
  /// Launches that a stream takes before the host has to wait for one to start; CUDA's is 1024
  /// (observed, not documented). 0: no limit.
  std::size_t queue = 1024;
};

/// Why something happened no earlier.
enum class Cause : std::uint8_t {
  kActivity,  ///< A kernel, copy or memset runs.
  kCall,      ///< A call of the host runs.
  kHost,      ///< The host does other things between two calls of a thread.
  kThread,    ///< Another thread handed on.
  kLaunch,    ///< A launch is on its way to the device.
  kStream,    ///< The device passes from one activity of a stream to the next.
  kWait,      ///< A stream waited for another.
  kReturn,    ///< The host learns that what it waited for is done.
  kQueue,     ///< The queue of launches was full.
};
/// "kernels and copies", "host between calls", ...
[[nodiscard]] std::string_view name_of(Cause cause);

/// A stretch of the critical path.
struct PathStep {
  Cause cause = Cause::kActivity;
  std::size_t index = 0;  ///< Of an activity or call: its place in the timeline.
  std::int64_t time_ns = 0;
};

struct Replayed {
  ir::Timeline timeline;
  /// Of every run, what its last activity waited for, and what that waited for, and so on: first to
  /// last, from the start of the first activity on. Nothing else can bring the end forward.
  std::vector<PathStep> path;
};

/// Lets a timeline run again with other durations of its activities (nanoseconds, in their order).
/// Starts and ends of calls and activities are the vertices of a graph without circles; edges are
/// the order of a stream, of a thread, a launch and what it launched, waits that the profiler saw,
/// and, in runs where it saw none, those that times suggest. Everything happens as much after the
/// last thing that it depends on as it did in the trace, so that with the durations of the trace
/// the result is the trace. A launch and a change of activity take what is usual for them in the
/// trace, whichever of them is waited for.
[[nodiscard]] Replayed replay(const ir::Timeline& timeline,
                              const std::vector<std::int64_t>& durations,
                              const ReplayOptions& options = {});

}  // namespace mansard::model
