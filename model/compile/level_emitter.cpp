#include "model/compile/level_emitter.hpp"

#include <algorithm>

#include "model/compile/operations.hpp"

namespace mansard::model::compile {

using ir::ExprKind;
using ir::Reduction;
using llvm::Value;

LevelEmitter::LevelEmitter(llvm::IRBuilder<>& builder, const Program& program, Level level,
                           unsigned width, Inputs inputs, std::vector<llvm::Function*> functions,
                           Symbol symbol)
    : builder_(builder),
      program_(program),
      level_(level),
      width_(width),
      inputs_(inputs),
      functions_(std::move(functions)),
      symbol_(std::move(symbol)),
      values_(program.nodes.size()),
      slots_(program.nodes.size()),
      members_(program.loops.size()),
      frames_(1) {
  for (const auto* slots : {&program.fixed_slots, &program.row_slots}) {
    for (const Slot& slot : *slots) {
      slots_[slot.node] = &slot;
    }
  }
  for (NodeId id = 0; id < program.nodes.size(); ++id) {
    const ProgramNode& node = program.nodes[id];
    if (node.loop != kNoLoop && node.level == level) {
      members_[node.loop].push_back(id);
    }
  }
}

void LevelEmitter::emit_nodes() {
  for (NodeId id = 0; id < program_.nodes.size(); ++id) {
    if (program_.nodes[id].level == level_ && program_.nodes[id].loop == kNoLoop) {
      emit_node(id);
    }
  }
}

void LevelEmitter::emit_members(LoopId loop) {
  for (const NodeId id : members_[loop]) {
    emit_node(id);
  }
}

void LevelEmitter::emit_node(NodeId id) {
  const ProgramNode& node = program_.nodes[id];
  switch (node.kind) {
    case ExprKind::kConstant:
      return;
    case ExprKind::kSymbol:
      values_[id] = symbol_(node.a);
      return;
    case ExprKind::kCall:
      values_[id] = emit_call(node);
      return;
    case ExprKind::kReduce:
      values_[id] = emit_reduce(node.a);
      return;
    default: {
      const auto operand = [&](NodeId at) { return at == kNoNode ? nullptr : value(at); };
      values_[id] =
          emit_operation(builder_, node.kind, value(node.a), operand(node.b), operand(node.c));
    }
  }
}

Value* LevelEmitter::value(NodeId id) {
  if (values_[id] == nullptr) {
    values_[id] = load(id);
    frames_.back().loaded.push_back(id);
  }
  return values_[id];
}

Value* LevelEmitter::load(NodeId id) {
  const ProgramNode& node = program_.nodes[id];
  llvm::Type* type = builder_.getDoubleTy();
  if (node.kind == ExprKind::kConstant) {
    return broadcast(builder_, llvm::ConstantFP::get(type, node.constant), width_);
  }
  if (node.kind == ExprKind::kSymbol && node.level == Level::kRow) {
    return broadcast(builder_, builder_.CreateLoad(type, address(inputs_.row, offset(node.a))),
                     width_);
  }
  const Slot& slot = *slots_[id];
  Value* index = offset(slot.offset);
  if (node.loop != kNoLoop) {
    const auto frame = std::ranges::find(frames_, node.loop, &Frame::loop);
    index = builder_.CreateAdd(index, frame->row);
  }
  Value* buffer = node.level == Level::kFixed ? inputs_.fixed : inputs_.hoisted;
  return broadcast(builder_, builder_.CreateLoad(type, address(buffer, index)), width_);
}

Value* LevelEmitter::emit_call(const ProgramNode& node) {
  std::vector<Value*> arguments;
  for (const NodeId argument : program_.operands(node)) {
    arguments.push_back(value(argument));
  }
  llvm::CallInst* call = builder_.CreateCall(functions_[node.a], arguments);
  call->setCallingConv(functions_[node.a]->getCallingConv());
  return call;
}

llvm::BasicBlock* LevelEmitter::begin_loop(LoopId id) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* body = llvm::BasicBlock::Create(builder_.getContext(), "rows", before->getParent());
  builder_.CreateBr(body);
  builder_.SetInsertPoint(body);
  llvm::PHINode* row = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  row->addIncoming(offset(0), before);
  frames_.push_back({id, row, {}});
  return body;
}

void LevelEmitter::end_loop(llvm::BasicBlock* body, std::size_t rows) {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  for (const NodeId id : frame.loaded) {
    values_[id] = nullptr;
  }
  llvm::BasicBlock* last = builder_.GetInsertBlock();
  Value* next = builder_.CreateAdd(frame.row, offset(1));
  frame.row->addIncoming(next, last);
  auto* after = llvm::BasicBlock::Create(builder_.getContext(), "after", last->getParent());
  builder_.CreateCondBr(builder_.CreateICmpULT(next, offset(rows)), body, after);
  builder_.SetInsertPoint(after);
}

Value* LevelEmitter::emit_reduce(LoopId id) {
  const ProgramLoop& loop = program_.loops[id];
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* body = begin_loop(id);
  llvm::Type* type =
      broadcast(builder_, llvm::ConstantFP::get(builder_.getDoubleTy(), 0), width_)->getType();
  const auto carried = [&] {
    llvm::PHINode* phi = builder_.CreatePHI(type, 2);
    phi->addIncoming(llvm::ConstantFP::get(type, 0), before);
    return phi;
  };
  llvm::PHINode* sum = carried();
  llvm::PHINode* payload = loop.payload == kNoNode ? nullptr : carried();
  emit_members(id);
  Value* first = builder_.CreateICmpEQ(frames_.back().row, offset(0));
  Value* key = value(loop.key);
  Value* taken = builder_.CreateSelect(first, key, accumulate(loop, sum, key));
  Value* chosen = nullptr;
  if (payload != nullptr) {
    Value* paid = value(loop.payload);
    Value* better = builder_.CreateSelect(builder_.CreateFCmpOLT(key, sum), paid, payload);
    chosen = builder_.CreateSelect(first, paid, better);
    payload->addIncoming(chosen, builder_.GetInsertBlock());
  }
  sum->addIncoming(taken, builder_.GetInsertBlock());
  end_loop(body, loop.rows);
  return payload == nullptr ? taken : chosen;
}

Value* LevelEmitter::accumulate(const ProgramLoop& loop, Value* sum, Value* key) {
  switch (loop.kind) {
    case Reduction::kSum:
      return builder_.CreateFAdd(sum, key);
    case Reduction::kMax:
      return emit_operation(builder_, ExprKind::kMax, sum, key, nullptr);
    default:
      return emit_operation(builder_, ExprKind::kMin, sum, key, nullptr);
  }
}

void LevelEmitter::emit_arrays(const std::vector<Slot>& slots) {
  for (LoopId loop = 0; loop < program_.loops.size(); ++loop) {
    const auto in_loop = [&](const Slot& slot) { return program_.nodes[slot.node].loop == loop; };
    if (std::ranges::none_of(slots, in_loop)) {
      continue;
    }
    llvm::BasicBlock* body = begin_loop(loop);
    emit_members(loop);
    for (const Slot& slot : slots) {
      if (in_loop(slot)) {
        store(slot, frames_.back().row);
      }
    }
    end_loop(body, program_.loops[loop].rows);
  }
}

void LevelEmitter::store_scalars(const std::vector<Slot>& slots) {
  for (const Slot& slot : slots) {
    if (program_.nodes[slot.node].loop == kNoLoop) {
      store(slot, offset(0));
    }
  }
}

void LevelEmitter::store(const Slot& slot, Value* index) {
  Value* at = builder_.CreateAdd(offset(slot.offset), index);
  builder_.CreateStore(value(slot.node), address(inputs_.hoisted, at));
}

Value* LevelEmitter::address(Value* buffer, Value* index) {
  return builder_.CreateInBoundsGEP(builder_.getDoubleTy(), buffer, index);
}

Value* LevelEmitter::offset(std::size_t value) {
  return builder_.getInt64(value);
}

}  // namespace mansard::model::compile
