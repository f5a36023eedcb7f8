#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>

#include "model/program/program.hpp"

namespace mansard::model::compile {

/// The names of a module's two functions, of the types Kernel::Row and Kernel::Points.
inline constexpr const char* kRowName = "mansard_row";
inline constexpr const char* kPointsName = "mansard_points";

/// A module that computes `program`: rows one by one, points `width` at a time.
[[nodiscard]] std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context,
                                                        const Program& program, unsigned width);

}  // namespace mansard::model::compile
