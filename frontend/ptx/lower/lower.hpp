#pragma once

#include "frontend/ptx/ast.hpp"
#include "ir/kernel.hpp"
#include "support/result.hpp"

namespace mansard::frontend::ptx {

/// A kernel of a PTX file as `ir` sees it. `function` belongs to `module` and has a body. What the
/// lowering had to assume or could not follow is in the notes of the result; no instruction is
/// dropped.
[[nodiscard]] ir::Kernel lower(const Module& module, const Function& function);

}  // namespace mansard::frontend::ptx
