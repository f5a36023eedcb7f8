#pragma once

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/lower/operands.hpp"
#include "ir/kernel.hpp"

namespace mansard::frontend::ptx {

/// Fills in what an instruction does to integers and predicates; leaves it opaque if it does not
/// compute such, or nothing that can be followed.
void lower_arithmetic(Operands& operands, const Instruction& source, ir::KernelInstruction& each);

}  // namespace mansard::frontend::ptx
