#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.hpp"
#include "model/kernel/walk.hpp"
#include "support/result.hpp"

/// A launch as a user gives it, and what it means for a kernel.
namespace mansard::cli {

struct LaunchText {
  std::string name;    ///< Of the launch, where a file names it.
  std::string kernel;  ///< Entry; "" if there is only one.
  std::string grid;    ///< "64,64,1" or "64x64x1"; "" if not given.
  std::string block;
  std::int64_t shared = 0;             ///< Dynamic, bytes.
  std::vector<std::string> arguments;  ///< "n=1024", "0=1024", "trip_L1=12".
  std::optional<double> measured_s;
};

/// Three positive numbers; missing ones are 1. `option` is named in errors.
[[nodiscard]] Result<std::array<std::int64_t, 3>> parse_sides(const std::string& option,
                                                              const std::string& text);

/// Gives the parameters the names of `--params`, in order.
void name_parameters(ir::Kernel& kernel, const std::vector<std::string>& names);

/// Errors: sides or arguments that cannot be read, a name that the kernel does not have (with
/// did-you-mean) unless `lenient`, which a file of launches of several kernels is.
[[nodiscard]] Result<model::kernel::Launch> read_launch(const ir::Kernel& kernel,
                                                        const LaunchText& text, std::size_t loops,
                                                        bool lenient);

/// The launches of a CSV file: columns kernel, grid, block and optionally case, dynamic_smem,
/// arguments, median_us; or the raw page of Nsight Compute.
[[nodiscard]] Result<std::vector<LaunchText>> read_launches(const std::string& path);

}  // namespace mansard::cli
