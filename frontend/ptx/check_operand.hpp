#pragma once

#include <string>

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/signature.hpp"

namespace mansard::frontend::ptx {

/// The first thing that is wrong with the operands of an instruction; an empty message if nothing.
struct OperandProblem {
  std::string message;
  Position begin = 0;
  Position end = 0;
};

/// Holds the operands against a signature that the modifiers fit.
[[nodiscard]] OperandProblem check_operands(const Module& module, const Function& function,
                                            const Instruction& instruction, const Match& match);

/// Whether a register of type `reg` may stand where an instruction means `wanted`: of the same
/// width (wider if `may_be_wider`), untyped bits with everything, integers of either sign alike.
[[nodiscard]] bool register_fits(Type wanted, Type reg, bool may_be_wider);

}  // namespace mansard::frontend::ptx
