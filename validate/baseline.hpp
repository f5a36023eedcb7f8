#pragma once

#include <vector>

#include "validate/compare.hpp"

namespace mansard::validate {

/// The three-constant roofline, start + max(compute / a, memory / b), fitted on the rows
/// themselves: what any tool can reach by looking at the answers. Estimates in the order of `rows`,
/// in seconds.
[[nodiscard]] std::vector<double> three_constant_estimates(const std::vector<Comparison>& rows);

}  // namespace mansard::validate
