#pragma once

#include "ir/kernel.hpp"

namespace mansard::frontend::ptx {

/// Joins loads from shared memory as ptxas does: words that follow each other, from one base
/// register that is known to be aligned, become one load of 8 or 16 bytes. The first keeps the
/// access, the others become no instruction of the machine. Stores, atomics and barriers between
/// them keep them apart.
void merge_shared_loads(ir::Kernel& kernel);

}  // namespace mansard::frontend::ptx
