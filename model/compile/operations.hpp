#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/expr.hpp"

namespace mansard::model::compile {

/// The code of one operation, as ir/expr_semantics.hpp defines it; operands are doubles or vectors
/// of them. `b` and `c` only where the operation has them.
[[nodiscard]] llvm::Value* emit_operation(llvm::IRBuilder<>& builder, ir::ExprKind kind,
                                          llvm::Value* a, llvm::Value* b, llvm::Value* c);

/// `value` in every lane of a vector of `width`; itself where that is 1.
[[nodiscard]] llvm::Value* broadcast(llvm::IRBuilder<>& builder, llvm::Value* value,
                                     unsigned width);

}  // namespace mansard::model::compile
