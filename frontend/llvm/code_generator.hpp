#pragma once

#include <string>

#include <llvm/IR/Module.h>

#include "support/result.hpp"

namespace mansard::frontend::llvm_ir {

/// PTX of a module of nvptx64, made by LLVM's NVPTX target at -O3 for the processor and features of
/// its functions. Errors, without a place: a processor that LLVM does not know, code that the
/// target cannot select.
[[nodiscard]] Result<std::string> generate_ptx(llvm::Module& module);

}  // namespace mansard::frontend::llvm_ir
