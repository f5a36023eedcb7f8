#include "model/compile/emit.hpp"

#include <array>

#include "model/compile/level_emitter.hpp"
#include "model/compile/operations.hpp"

namespace mansard::model::compile {
namespace {

using llvm::Value;

class ModuleEmitter {
 public:
  ModuleEmitter(llvm::Module& module, const Program& program)
      : module_(module), program_(program), builder_(module.getContext()) {}

  void emit_row() {
    auto functions = functions_of(1);
    llvm::Function* function = define(kRowName, 3);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", function));
    const LevelEmitter::Inputs inputs{function->getArg(0), function->getArg(1),
                                      function->getArg(2)};
    LevelEmitter emitter(
        builder_, program_, Level::kRow, 1, inputs, std::move(functions),
        [&](NodeId index) { return load(builder_.getDoubleTy(), inputs.row, index); });
    emitter.emit_nodes();
    emitter.store_scalars(program_.row_slots);
    emitter.emit_arrays(program_.row_slots);
    builder_.CreateRetVoid();
  }

  void emit_points(unsigned width) {
    const auto functions = functions_of(width);
    llvm::Function* function = define(kPointsName, 5);
    auto* entry = llvm::BasicBlock::Create(module_.getContext(), "", function);
    auto* body = llvm::BasicBlock::Create(module_.getContext(), "points", function);
    auto* done = llvm::BasicBlock::Create(module_.getContext(), "done", function);
    Value* count = function->getArg(5);
    builder_.SetInsertPoint(entry);
    builder_.CreateCondBr(builder_.CreateICmpSGT(count, builder_.getInt64(0)), body, done);
    builder_.SetInsertPoint(body);
    llvm::PHINode* point = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    point->addIncoming(builder_.getInt64(0), entry);
    emit_some_points(*function, functions, width, point);
    Value* next = builder_.CreateAdd(point, builder_.getInt64(width));
    point->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, count), body, done);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
  }

 private:
  void emit_some_points(llvm::Function& function, const std::vector<llvm::Function*>& functions,
                        unsigned width, Value* point) {
    Value* columns = function.getArg(3);
    Value* out = function.getArg(4);
    const auto symbol = [&](NodeId index) {
      Value* column = load(builder_.getPtrTy(), columns, index);
      return builder_.CreateAlignedLoad(lanes(width), element(column, point), llvm::Align(8));
    };
    LevelEmitter emitter(builder_, program_, Level::kPoint, width,
                         {function.getArg(0), function.getArg(1), function.getArg(2)}, functions,
                         symbol);
    emitter.emit_nodes();
    for (std::size_t i = 0; i < program_.roots.size(); ++i) {
      Value* results = load(builder_.getPtrTy(), out, i);
      builder_.CreateAlignedStore(emitter.value(program_.roots[i]), element(results, point),
                                  llvm::Align(8));
    }
  }

  /// Every function that the program keeps whole, on `width` lanes.
  std::vector<llvm::Function*> functions_of(unsigned width) {
    std::vector<llvm::Function*> result;
    for (const ProgramFunction& function : program_.functions) {
      result.push_back(emit_function(function, width));
    }
    return result;
  }

  llvm::Function* emit_function(const ProgramFunction& source, unsigned width) {
    const std::vector<llvm::Type*> parameters(source.parameters, lanes(width));
    auto* function =
        llvm::Function::Create(llvm::FunctionType::get(lanes(width), parameters, false),
                               llvm::Function::InternalLinkage, source.name, module_);
    function->setCallingConv(llvm::CallingConv::Fast);
    function->addFnAttr(llvm::Attribute::NoInline);
    set_attributes(*function);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", function));
    std::vector<Value*> values;
    const auto operand = [&](NodeId id) { return id == kNoNode ? nullptr : values[id]; };
    for (const ProgramNode& node : source.nodes) {
      if (node.kind == ir::ExprKind::kConstant) {
        values.push_back(llvm::ConstantFP::get(lanes(width), node.constant));
      } else if (node.kind == ir::ExprKind::kSymbol) {
        values.push_back(function->getArg(node.a));
      } else {
        values.push_back(
            emit_operation(builder_, node.kind, operand(node.a), operand(node.b), operand(node.c)));
      }
    }
    builder_.CreateRet(values[source.result]);
    return function;
  }

  llvm::Type* lanes(unsigned width) {
    llvm::Type* number = builder_.getDoubleTy();
    return width == 1 ? number : llvm::FixedVectorType::get(number, width);
  }

  /// A function of so many pointers, the last followed by a count if there are five.
  llvm::Function* define(const char* name, std::size_t pointers) {
    std::vector<llvm::Type*> parameters(pointers, builder_.getPtrTy());
    if (pointers == 5) {
      parameters.push_back(builder_.getInt64Ty());
    }
    auto* function =
        llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), parameters, false),
                               llvm::Function::ExternalLinkage, name, module_);
    for (unsigned i = 0; i < pointers; ++i) {
      function->addParamAttr(i, llvm::Attribute::NoAlias);
    }
    set_attributes(*function);
    return function;
  }

  static void set_attributes(llvm::Function& function) {
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("min-legal-vector-width", "512");
    function.addFnAttr("prefer-vector-width", "512");
  }

  Value* element(Value* base, Value* index) {
    return builder_.CreateInBoundsGEP(builder_.getDoubleTy(), base, index);
  }

  Value* load(llvm::Type* type, Value* base, std::size_t index) {
    return builder_.CreateLoad(type,
                               builder_.CreateInBoundsGEP(type, base, builder_.getInt64(index)));
  }

  llvm::Module& module_;
  const Program& program_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const Program& program,
                                          unsigned width) {
  auto module = std::make_unique<llvm::Module>("mansard", context);
  ModuleEmitter emitter(*module, program);
  emitter.emit_row();
  emitter.emit_points(width);
  return module;
}

}  // namespace mansard::model::compile
