#pragma once

#include <functional>

#include "validate/measure/protocol.hpp"

namespace mansard::measure {

/// How a job ended, as the child tells its parent: kProcessLost asks for a new child, kHopeless
/// says that no job can run.
enum class Outcome { kDone, kSkipped, kFailed, kProcessLost, kHopeless };

struct Tally {
  int done = 0;
  int skipped = 0;
  int failed = 0;
};

/// Runs job 0, 1, ... `count` - 1 in a child process, so that a job that kills the process, loses
/// the device or hangs costs that job only: a new child goes on with the next. `run(job)` runs in
/// the child; kProcessLost asks for a new child. `lost(job, why)` is told in the parent. A job that
/// takes longer than `patience` is killed. Ends early when `enough()` (asked before each job) says
/// so. The parent must hold no device context and no threads.
[[nodiscard]] Tally run_isolated(int count, const std::function<Outcome(int)>& run,
                                 const std::function<bool()>& enough,
                                 const std::function<void(int, const char*)>& lost,
                                 Seconds patience);

}  // namespace mansard::measure
