#pragma once

#include "ir/kernel.hpp"

namespace mansard::frontend::ptx {

/// Marks the 64-bit parameters that addresses are made from: through moves, sums and selections.
void mark_pointers(ir::Kernel& kernel);

}  // namespace mansard::frontend::ptx
