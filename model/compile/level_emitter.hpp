#pragma once

#include <functional>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "model/program/program.hpp"

namespace mansard::model::compile {

/// Writes the code of one level of a program into a function: operands of lower levels are loaded
/// from their slots, functions of the program are called in the version of this width.
class LevelEmitter {
 public:
  struct Inputs {
    llvm::Value* fixed = nullptr;    ///< Buffer of the fixed slots.
    llvm::Value* row = nullptr;      ///< Values of the row's symbols.
    llvm::Value* hoisted = nullptr;  ///< Buffer of the row slots.
  };
  using Symbol = std::function<llvm::Value*(NodeId index)>;

  /// `symbol` gives the value of a symbol of this level.
  LevelEmitter(llvm::IRBuilder<>& builder, const Program& program, Level level, unsigned width,
               Inputs inputs, std::vector<llvm::Function*> functions, Symbol symbol);

  /// All nodes of this level that are in no loop.
  void emit_nodes();
  /// The loops that fill this level's arrays; `store` writes an element.
  void emit_arrays(const std::vector<Slot>& slots);
  /// The value of any node that is of this level or crosses to it.
  [[nodiscard]] llvm::Value* value(NodeId id);
  /// Stores the values of a row's slots that are in no loop.
  void store_scalars(const std::vector<Slot>& slots);

 private:
  /// A loop that is being written.
  struct Frame {
    LoopId loop = kNoLoop;
    llvm::PHINode* row = nullptr;
    std::vector<NodeId> loaded;  // Valid in this frame only.
  };

  void emit_node(NodeId id);
  void emit_members(LoopId loop);
  llvm::Value* emit_call(const ProgramNode& node);
  llvm::Value* emit_reduce(LoopId id);
  llvm::Value* accumulate(const ProgramLoop& loop, llvm::Value* sum, llvm::Value* key);
  llvm::Value* load(NodeId id);
  llvm::BasicBlock* begin_loop(LoopId id);
  void end_loop(llvm::BasicBlock* body, std::size_t rows);
  void store(const Slot& slot, llvm::Value* index);
  llvm::Value* address(llvm::Value* buffer, llvm::Value* index);
  llvm::Value* offset(std::size_t value);

  llvm::IRBuilder<>& builder_;
  const Program& program_;
  Level level_;
  unsigned width_;
  Inputs inputs_;
  std::vector<llvm::Function*> functions_;
  Symbol symbol_;
  std::vector<llvm::Value*> values_;
  std::vector<const Slot*> slots_;
  std::vector<std::vector<NodeId>> members_;
  std::vector<Frame> frames_;
};

}  // namespace mansard::model::compile
