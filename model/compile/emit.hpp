#pragma once

#include <memory>
#include <span>
#include <string>

#include <llvm/IR/Module.h>

#include "model/program/program.hpp"

namespace mansard::model::compile {

/// The names of a module's two functions, of the types Kernel::Row and Kernel::Points.
inline constexpr const char* kRowName = "mansard_row";
inline constexpr const char* kPointsName = "mansard_points";
/// The name of an artefact's one function: void(const double* const* in, double* const* out,
/// int64_t n).
inline constexpr const char* kEvaluateName = "mansard_evaluate";

/// A module that computes `program`: rows one by one, points `width` at a time.
[[nodiscard]] std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context,
                                                        const Program& program, unsigned width);

struct ArtefactShape {
  unsigned width = 1;     ///< Points at a time.
  bool kernel = false;    ///< For a GPU.
  bool contract = false;  ///< Products may join sums.
};

/// A module that stands alone: what is fixed (the program's fixed slots) is constant in it, and its
/// program has no symbols of rows.
[[nodiscard]] std::unique_ptr<llvm::Module> emit_artefact(llvm::LLVMContext& context,
                                                          const Program& program,
                                                          std::span<const double> fixed,
                                                          const ArtefactShape& shape);

}  // namespace mansard::model::compile
