#pragma once

#include "frontend/ptx/ast.hpp"
#include "frontend/ptx/token_stream.hpp"

namespace mansard::frontend::ptx {

/// Holds declarations against the rules that grammar does not say: what may be initialised, sizes,
/// functions that are declared and called alike, directives that exclude each other.
void check_declarations(const Module& module, Report& report);

}  // namespace mansard::frontend::ptx
