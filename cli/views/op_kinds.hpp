#pragma once

#include <span>
#include <string>

#include "cli/views/format.hpp"
#include "ir/op_def.hpp"

/// Views of what ops and number formats there are.
namespace mansard::cli {

/// What each kind of op computes, reads and writes, and its counts as formulas. `mansard.ops/1`.
[[nodiscard]] std::string op_kinds(std::span<const ir::OpDef> kinds, Format format);

/// Every number format with its bits per element. `mansard.dtypes/1`.
[[nodiscard]] std::string dtype_list(Format format);

}  // namespace mansard::cli
