#pragma once

#include <optional>
#include <string>

#include "model/kernel/occupancy.hpp"

namespace mansard::cli {

/// Registers and shared memory of an entry of a PTX text as ptxas assembles it, for the
/// architecture `target`
/// ("sm_90"). nullopt if ptxas is not installed, does not know the target or takes more than a
/// minute; `why` then says which.
[[nodiscard]] std::optional<model::kernel::Resources> assemble(const std::string& text,
                                                               const std::string& entry,
                                                               const std::string& target,
                                                               std::string& why);

}  // namespace mansard::cli
