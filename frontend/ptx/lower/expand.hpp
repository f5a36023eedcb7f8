#pragma once

#include "ir/kernel.hpp"

namespace mansard::frontend::ptx {

/// Sets `machine` of each instruction from its class and its neighbours: a product and the sum it
/// feeds become one instruction, an address plus a constant none.
void expand(ir::Kernel& kernel);

}  // namespace mansard::frontend::ptx
