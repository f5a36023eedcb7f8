#pragma once

#include "cli/views/json.hpp"
#include "ir/kernel_formulas.hpp"

namespace mansard::cli {

/// The loops of a kernel, each with its trip count as a formula, or null where that depends on
/// data.
[[nodiscard]] Json loops_json(const ir::KernelFormulas& formulas);

}  // namespace mansard::cli
