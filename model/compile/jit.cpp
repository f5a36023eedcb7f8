#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include "model/compile/artefact.hpp"
#include "model/compile/emit.hpp"
#include "model/program/kernel.hpp"

namespace mansard::model::compile {
namespace {

/// Points in one step of the loop, as a multiple of a vector register: the operations of several
/// vectors overlap, and what they share is loaded once.
constexpr unsigned kUnroll = 2;

auto llvm_failure(llvm::Error error) {
  return failure("llvm", "LLVM: " + llvm::toString(std::move(error)));
}

void initialize() {
  static const bool done =
      !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  (void)done;
}

/// The target of this host. No contraction: results have the bits of the interpreter.
Result<std::unique_ptr<llvm::TargetMachine>> host_machine() {
  initialize();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder) {
    return llvm_failure(builder.takeError());
  }
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeModel(llvm::CodeModel::Small);
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  auto machine = builder->createTargetMachine();
  if (!machine) {
    return llvm_failure(machine.takeError());
  }
  return std::move(*machine);
}

/// Doubles in a vector register.
unsigned register_width() {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  const auto has = [&](const char* name) { return features.lookup(name); };
  if (has("avx512f") && has("avx512dq") && has("avx512vl")) {
    return 8;
  }
  return has("avx2") ? 4 : 2;
}

class LoadedKernel : public Kernel {
 public:
  LoadedKernel(std::unique_ptr<llvm::orc::LLJIT> jit, std::size_t lanes) : jit_(std::move(jit)) {
    width = lanes;
  }

  [[nodiscard]] llvm::Error find() {
    auto row_address = jit_->lookup(kRowName);
    auto points_address = jit_->lookup(kPointsName);
    if (!row_address || !points_address) {
      return llvm::joinErrors(row_address.takeError(), points_address.takeError());
    }
    row = row_address->toPtr<Row>();
    points = points_address->toPtr<Points>();
    return llvm::Error::success();
  }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

class JitCompiler : public KernelCompiler {
 public:
  std::string host() const override {
    std::string text = llvm::sys::getHostCPUName().str();
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      text += feature.second ? "+" + feature.first().str() : "";
    }
    return text;
  }

  Result<std::string> compile(const Program& program) const override {
    auto machine = host_machine();
    if (!machine) {
      return failure(std::move(machine.error()));
    }
    llvm::LLVMContext context;
    const auto module = emit_module(context, program, kUnroll * register_width());
    module->setDataLayout((*machine)->createDataLayout());
    module->setTargetTriple((*machine)->getTargetTriple().str());
    assert(!llvm::verifyModule(*module, &llvm::errs()));
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream out(object);
    llvm::legacy::PassManager passes;
    if ((*machine)->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile)) {
      return failure("llvm", "LLVM cannot write object files for this host");
    }
    passes.run(*module);
    return std::string(object.begin(), object.end());
  }

  Result<std::string> emit(const Program& program, std::span<const double> fixed,
                           const ArtefactOptions& options) const override {
    return emit_text(program, fixed, options);
  }

  Result<std::shared_ptr<const Kernel>> load(const std::string& object) const override {
    initialize();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) {
      return llvm_failure(jit.takeError());
    }
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "kernel");
    if (auto error = (*jit)->addObjectFile(std::move(buffer))) {
      return llvm_failure(std::move(error));
    }
    auto kernel = std::make_shared<LoadedKernel>(std::move(*jit), kUnroll * register_width());
    if (auto error = kernel->find()) {
      return llvm_failure(std::move(error));
    }
    return kernel;
  }
};

}  // namespace
}  // namespace mansard::model::compile

extern "C" const mansard::model::KernelCompiler* mansard_kernel_compiler() {
  static const mansard::model::compile::JitCompiler compiler;
  return &compiler;
}
