#pragma once

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/parser.hpp"
#include "frontend/ptx/token_stream.hpp"

namespace mansard::frontend::ptx {

/// Holds every instruction of the module against the opcode table: modifiers, number and types of
/// operands, ISA version and architecture. Unknown opcodes are dealt with as `options` say.
void check(Module& module, const ParseOptions& options, Report& report);

}  // namespace mansard::frontend::ptx
