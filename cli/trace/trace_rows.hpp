#pragma once

#include <string>
#include <vector>

#include "cli/trace/kernel_models.hpp"
#include "ir/measurement.hpp"

namespace mansard::cli {

/// Kernels of a dataset as measurements of `machine`, in the mode "kernel". With a model, each op
/// of it that a row of a measurement file can hold (matmul, attention, norm): the times of all
/// kernels of an execution together. Without one, kernels whose shapes the trace recorded. Errors:
/// no dataset; a trace of another machine.
[[nodiscard]] Result<std::vector<ir::Measurement>> trace_measurements(
    const std::string& path, const TraceModel& model, const hardware::Machine& machine);

}  // namespace mansard::cli
