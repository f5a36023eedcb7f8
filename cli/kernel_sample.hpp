#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/ptx/ast.hpp"
#include "ir/kernel.hpp"
#include "ir/kernel_flow.hpp"
#include "model/kernel/walk.hpp"
#include "support/result.hpp"

/// Trip counts that depend on data, by running a few blocks of the kernel in the interpreter.
namespace mansard::cli {

struct SampleOptions {
  std::int64_t blocks = 4;           ///< Evenly spread over the grid.
  std::vector<std::string> buffers;  ///< "x=FILE": the bytes that a pointer points to.
};

struct Sample {
  std::map<std::uint32_t, model::kernel::Trips> trips;  ///< By loop.
  std::int64_t blocks = 0;
  std::uint64_t bytes = 0;  ///< Of each buffer of noise.
  bool computed = true;     ///< False: results of some instructions were not computed.
};

/// Buffers that nobody gave hold noise: floating point in [0, 1), integers below 1024. Errors: a
/// scalar that is not bound, a buffer that cannot be read, whatever stops the interpreter.
[[nodiscard]] Result<Sample> sample_trips(const frontend::ptx::Module& module,
                                          const ir::Kernel& kernel, const ir::KernelFlow& flow,
                                          const model::kernel::Launch& launch,
                                          const std::set<std::uint32_t>& loops,
                                          const SampleOptions& options);

}  // namespace mansard::cli
