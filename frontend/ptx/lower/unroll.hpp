#pragma once

#include "ir/kernel.hpp"

namespace mansard::frontend::ptx {

/// Marks the loops that ptxas unrolls: a single block without barriers that counts by a constant to
/// a bound that does not change. What counts and branches is then done once in four iterations, and
/// the loads of four are in flight together (seen in the machine code of CUDA 13 for sm_90).
void mark_unrolled(ir::Kernel& kernel);

}  // namespace mansard::frontend::ptx
