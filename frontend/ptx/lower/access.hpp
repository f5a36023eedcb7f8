#pragma once

#include <optional>

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/lower/operands.hpp"
#include "ir/kernel.hpp"

namespace mansard::frontend::ptx {

/// The memory access of an instruction, if it makes one. Parameters are none: they come from the
/// constant bank.
[[nodiscard]] std::optional<ir::KernelAccess> access_of(Operands& operands,
                                                        const Instruction& source);

}  // namespace mansard::frontend::ptx
