#pragma once

#include <cstddef>

#include "traces/byte_source.hpp"
#include "traces/read_report.hpp"

/// PyTorch's Kineto traces and other Chrome trace JSON.
namespace mansard::traces {

struct KinetoLimits {
  std::size_t window = std::size_t{1} << 20;   ///< Bytes read at a time.
  std::size_t largest = std::size_t{1} << 26;  ///< Bytes that one event may take.
};

/// Reads a trace in constant memory: {"traceEvents": [...]} or a bare list of events. Times are
/// microseconds in the file whatever displayTimeUnit says, and become integer nanoseconds from
/// `run.base_ns`. Complete events ("X", and "B" with its "E") become kernels, copies, memsets,
/// synchronisations, launches, ops and annotations by their category; all others are counted.
[[nodiscard]] ReadReport read_kineto(ByteSource source, ir::TraceSink& sink,
                                     const KinetoLimits& limits = {});

}  // namespace mansard::traces
