#pragma once

#include <vector>

#include "validate/measure/row.hpp"

namespace mansard::measure {

/// The suite's built-in ops, in an order that is the same on every run and mixes the kinds, so that
/// a budget cut short leaves some of each: linear layers of several models over token counts and
/// formats, log-uniform arbitrary matmuls (some unaligned), attention, experts, row-wise ops and
/// streams, a decode layer.
[[nodiscard]] std::vector<Row> default_ops();

}  // namespace mansard::measure
