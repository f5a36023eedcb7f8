#pragma once

#include <cstdint>

#include "traces/dataset/sqlite.hpp"

namespace mansard::traces {

/// Joins what ran on a device with the call that launched it, and with the op that made the call.
/// By correlation within a run (and within a process, where the file tells processes apart: ids
/// repeat); by the external id where a file has no correlations. Of several launches of one
/// correlation the last before the start counts. An op is found by its external id, or as the
/// innermost that was running on the launching thread. What has no partner stays as it is.
void link_run(Database& database, std::int64_t run);

/// Matches kernels of runs without a timeline (counters) to those of runs with one: the n-th of a
/// name, grid and block to the n-th, where both have equally many; those that keep the order of
/// launches are verified. Where the counters are of a part only, they are matched as a whole, if
/// their launches follow each other in the timeline just so.
void combine_runs(Database& database);

}  // namespace mansard::traces
