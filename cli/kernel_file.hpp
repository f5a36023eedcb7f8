#pragma once

#include <string>

#include "frontend/ptx/parser.hpp"

namespace mansard::cli {

/// The kernels of a file: PTX, or LLVM IR (.ll, .bc) of device code, which LLVM compiles to PTX
/// first. Errors: those of the parser and of LLVM; no libmansard_llvm.so.
[[nodiscard]] Result<frontend::ptx::Parsed> read_kernels(const std::string& path);

}  // namespace mansard::cli
