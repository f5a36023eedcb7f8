#pragma once

#include <string>

#include "frontend/ptx/ast.hpp"

namespace mansard::frontend::ptx {

/// The module as PTX text that parses to the same module. Comments and layout are not kept, numbers
/// stand in one form (integers decimal, floating point as 0f and 0d).
[[nodiscard]] std::string print(const Module& module);

/// One instruction, without its semicolon: "@%p1 bra $L1".
[[nodiscard]] std::string print(const Module& module, const Function& function,
                                const Instruction& instruction);

}  // namespace mansard::frontend::ptx
