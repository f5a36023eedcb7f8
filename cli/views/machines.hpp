#pragma once

#include <span>
#include <string>

#include "cli/views/format.hpp"
#include "hardware/machine.hpp"

/// Views of machines.
namespace mansard::cli {

/// One line a machine: what it is and its main figures. `mansard.machines/1`.
[[nodiscard]] std::string machine_list(std::span<const hardware::Machine> machines, Format format);

/// Every figure of a machine with its unit, kind, source and note. `mansard.machine/1`.
[[nodiscard]] std::string machine_sheet(const hardware::Machine& machine, Format format);

/// Rates, bandwidths and the balance between them, machine under machine. `mansard.comparison/1`.
[[nodiscard]] std::string machine_comparison(std::span<const hardware::Machine> machines,
                                             Format format);

}  // namespace mansard::cli
