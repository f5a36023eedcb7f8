#pragma once

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
};

/// Lets a timeline run again with other durations of its activities (nanoseconds, in their order).
/// An activity starts after the one before it on its stream, after its launch, and after the
/// activity of another stream that it is seen to have waited for; then as much later as it did in
/// the trace. A call of the host starts when the thread's call before it has ended plus the host's
/// own time between them; a call that waits ends no earlier than what it waited for. With the
/// durations of the trace the result is the trace.
[[nodiscard]] ir::Timeline replay(const ir::Timeline& timeline,
                                  const std::vector<std::int64_t>& durations,
                                  const ReplayOptions& options = {});

}  // namespace mansard::model
