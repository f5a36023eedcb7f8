#pragma once

#include "frontend/ptx/ast.hpp"
#include "ir/kernel.hpp"

namespace mansard::frontend::ptx {

/// The class of a form of instruction: which pipe it runs on, its FLOP, and how many instructions
/// of the machine it becomes. PTX is not what a GPU executes: division, square roots, 64-bit
/// integers become sequences, whose lengths (counted in the SASS that ptxas 12 and 13 write for
/// sm_80 and sm_90, with their spread) stand in the tables here.
[[nodiscard]] ir::InstructionClass classify(const Form& form);

/// "ld.global.v4.f32".
[[nodiscard]] std::string name_of(const Form& form);

}  // namespace mansard::frontend::ptx
