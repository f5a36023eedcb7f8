#pragma once

#include <optional>
#include <string_view>

#include "cli/views/records.hpp"
#include "hardware/machine.hpp"

/// Figures of machines as cells of a table.
namespace mansard::cli {

/// The figure at `path`: "?" if the machine does not know it, "-" if it has no such figure.
[[nodiscard]] Cell figure(const hardware::Machine& machine, std::string_view path);

/// The quotient of two figures, in base units: a balance. "?" if either is unknown, "-" if the
/// machine lacks either.
[[nodiscard]] Cell figure_ratio(const hardware::Machine& machine, std::string_view above,
                                std::string_view below);

/// Bytes as the memory is built: "228 KiB" where binary units give a whole number, else "141 GB".
[[nodiscard]] std::string capacity(double bytes);
/// A value of a machine as a person reads it: capacities as above, pin rates in bits.
[[nodiscard]] std::string figure_text(const hardware::Field& field, double value);

}  // namespace mansard::cli
