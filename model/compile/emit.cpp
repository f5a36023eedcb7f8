#include "model/compile/emit.hpp"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "model/compile/level_emitter.hpp"
#include "model/compile/operations.hpp"

namespace mansard::model::compile {
namespace {

using llvm::Value;

class ModuleEmitter {
 public:
  ModuleEmitter(llvm::Module& module, const Program& program, bool contract = false)
      : module_(module), program_(program), builder_(module.getContext()) {
    llvm::FastMathFlags flags;
    flags.setAllowContract(contract);
    builder_.setFastMathFlags(flags);
  }

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
    emit_some_points({function->getArg(0), function->getArg(1), function->getArg(2)},
                     function->getArg(3), function->getArg(4), functions, width, point);
    Value* next = builder_.CreateAdd(point, builder_.getInt64(width));
    point->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, count), body, done);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
  }

  /// void NAME(in, out, n), what is fixed held as constants.
  void emit_evaluate(std::span<const double> fixed, unsigned width) {
    llvm::Function* some = emit_range("some", fixed, width);
    llvm::Function* one = width == 1 ? some : emit_range("one", fixed, 1);
    llvm::Function* function = define_evaluate();
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", function));
    Value* in = function->getArg(0);
    Value* out = function->getArg(1);
    Value* count = function->getArg(2);
    Value* lanes_of = builder_.getInt64(width);
    Value* whole = builder_.CreateSub(count, builder_.CreateSRem(count, lanes_of));
    builder_.CreateCall(some, {in, out, builder_.getInt64(0), whole, lanes_of});
    builder_.CreateCall(one, {in, out, whole, count, builder_.getInt64(1)});
    builder_.CreateRetVoid();
  }

  /// The same as a kernel of a GPU, a thread taking every so many points.
  void emit_kernel(std::span<const double> fixed) {
    llvm::Function* some = emit_range("some", fixed, 1);
    llvm::Function* function = define_evaluate();
    function->setCallingConv(llvm::CallingConv::PTX_Kernel);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", function));
    const auto special = [&](llvm::Intrinsic::ID id) {
      return builder_.CreateZExt(builder_.CreateIntrinsic(id, {}, {}), builder_.getInt64Ty());
    };
    Value* threads = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
    Value* block = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    Value* blocks = special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
    Value* first = builder_.CreateAdd(builder_.CreateMul(block, threads),
                                      special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
    builder_.CreateCall(some, {function->getArg(0), function->getArg(1), first, function->getArg(2),
                               builder_.CreateMul(blocks, threads)});
    builder_.CreateRetVoid();
  }

 private:
  llvm::Function* define_evaluate() {
    auto* function = llvm::Function::Create(
        llvm::FunctionType::get(builder_.getVoidTy(),
                                {builder_.getPtrTy(), builder_.getPtrTy(), builder_.getInt64Ty()},
                                false),
        llvm::Function::ExternalLinkage, kEvaluateName, module_);
    set_attributes(*function);
    return function;
  }

  /// An internal function (in, out, begin, end, step) over points `width` at a time.
  llvm::Function* emit_range(const char* name, std::span<const double> fixed, unsigned width) {
    const auto functions = functions_of(width);
    llvm::Type* index = builder_.getInt64Ty();
    auto* function = llvm::Function::Create(
        llvm::FunctionType::get(builder_.getVoidTy(),
                                {builder_.getPtrTy(), builder_.getPtrTy(), index, index, index},
                                false),
        llvm::Function::InternalLinkage, name, module_);
    set_attributes(*function);
    llvm::Constant* values = llvm::ConstantDataArray::get(
        module_.getContext(), llvm::ArrayRef(fixed.data(), fixed.size()));
    auto* buffer = new llvm::GlobalVariable(module_, values->getType(), true,
                                            llvm::GlobalValue::InternalLinkage, values, "fixed");
    auto* entry = llvm::BasicBlock::Create(module_.getContext(), "", function);
    auto* body = llvm::BasicBlock::Create(module_.getContext(), "points", function);
    auto* done = llvm::BasicBlock::Create(module_.getContext(), "done", function);
    builder_.SetInsertPoint(entry);
    Value* begin = function->getArg(2);
    Value* end = function->getArg(3);
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), body, done);
    builder_.SetInsertPoint(body);
    llvm::PHINode* point = builder_.CreatePHI(index, 2);
    point->addIncoming(begin, entry);
    emit_some_points({buffer, nullptr, nullptr}, function->getArg(0), function->getArg(1),
                     functions, width, point);
    Value* next = builder_.CreateAdd(point, function->getArg(4));
    point->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), body, done);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
    return function;
  }

  void emit_some_points(const LevelEmitter::Inputs& inputs, Value* columns, Value* out,
                        const std::vector<llvm::Function*>& functions, unsigned width,
                        Value* point) {
    const auto symbol = [&](NodeId index) {
      Value* column = load(builder_.getPtrTy(), columns, index);
      return builder_.CreateAlignedLoad(lanes(width), element(column, point), llvm::Align(8));
    };
    LevelEmitter emitter(builder_, program_, Level::kPoint, width, inputs, functions, symbol);
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

std::unique_ptr<llvm::Module> emit_artefact(llvm::LLVMContext& context, const Program& program,
                                            std::span<const double> fixed,
                                            const ArtefactShape& shape) {
  auto module = std::make_unique<llvm::Module>("mansard", context);
  ModuleEmitter emitter(*module, program, shape.contract);
  if (shape.kernel) {
    emitter.emit_kernel(fixed);
  } else {
    emitter.emit_evaluate(fixed, shape.width);
  }
  return module;
}

}  // namespace mansard::model::compile
