#pragma once

#include <string>

#include "ir/timeline.hpp"

namespace mansard::traces {

/// A timeline as Chrome trace JSON, which Perfetto and chrome://tracing open: a process for every
/// device with a thread for every stream, a process for every program with its threads and their
/// calls, and an arrow from each launch to what it launched. Times in microseconds with three
/// decimals, so that no nanosecond is lost, counted from the first event.
[[nodiscard]] std::string chrome_trace(const ir::Timeline& timeline);

}  // namespace mansard::traces
