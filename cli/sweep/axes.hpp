#pragma once

#include <string>
#include <vector>

#include "cli/sweep/settings.hpp"
#include "model/sweep/sweep.hpp"
#include "support/result.hpp"

namespace mansard::cli {

/// Reads `--vary` options and sorts their axes into structural and symbolic ones. A machine's
/// figure is symbolic if nothing else of the machine follows from it; then and for batch and
/// context one expression serves all values. Several machines or models are axes of their own, in
/// front. Errors: syntax, unknown names (did-you-mean), units, zipped axes of unlike length, an
/// axis given twice.
[[nodiscard]] Result<model::SweepSpace> sweep_space(const std::vector<std::string>& vary,
                                                    const Question& question);

/// The value of an axis as `--set` takes it.
[[nodiscard]] std::string setting_text(const model::Axis& axis, std::uint64_t index);

}  // namespace mansard::cli
