#pragma once

#include "ir/kernel.hpp"

namespace mansard::frontend::ptx {

/// Marks the short pieces of code that a branch skips and that ptxas predicates instead: the branch
/// is then no instruction, and every warp that reaches it issues the piece, whether any of its
/// lanes take it or not (seen in the machine code of CUDA 13 for sm_90).
void mark_predicated(ir::Kernel& kernel);

}  // namespace mansard::frontend::ptx
