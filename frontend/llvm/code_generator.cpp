#include "frontend/llvm/code_generator.hpp"

#include <memory>

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

namespace mansard::frontend::llvm_ir {
namespace {

/// The oldest that LLVM 19 and nvcc 13 both know well; for modules that name no processor.
constexpr const char* kDefaultProcessor = "sm_70";

struct Processor {
  std::string name = kDefaultProcessor;
  std::string features;
};

Processor processor_of(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() && function.hasFnAttribute("target-cpu")) {
      return {function.getFnAttribute("target-cpu").getValueAsString().str(),
              function.getFnAttribute("target-features").getValueAsString().str()};
    }
  }
  return {};
}

Result<std::unique_ptr<llvm::TargetMachine>> machine_for(const llvm::Module& module) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  std::string reason;
  const std::string& triple = module.getTargetTriple();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (target == nullptr) {
    return failure("llvm-target", "LLVM: " + reason);
  }
  const Processor processor = processor_of(module);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, processor.name, processor.features, {}, std::nullopt,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine->getMCSubtargetInfo()->isCPUStringValid(processor.name)) {
    return failure("unknown-cpu",
                   "LLVM 19 knows no processor '" + processor.name + "' of " + triple);
  }
  return machine;
}

/// What LLVM says while it compiles; it neither prints nor ends the program.
class Complaints : public llvm::DiagnosticHandler {
 public:
  explicit Complaints(std::string& first) : first_(first) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error && first_.empty()) {
      llvm::raw_string_ostream out(first_);
      llvm::DiagnosticPrinterRawOStream printer(out);
      info.print(printer);
    }
    return true;
  }

 private:
  std::string& first_;
};

/// An error after which LLVM would exit: back to `RunSafely` instead.
void abandon(void* text, const char* reason, bool) {
  *static_cast<std::string*>(text) = reason;
  if (auto* recovery = llvm::CrashRecoveryContext::GetCurrent()) {
    recovery->HandleExit(1);
  }
}

bool run_safely(llvm::legacy::PassManager& passes, llvm::Module& module, std::string& fatal) {
  llvm::CrashRecoveryContext::Enable();
  llvm::ScopedFatalErrorHandler handler(abandon, &fatal);
  llvm::CrashRecoveryContext recovery;
  const bool finished = recovery.RunSafely([&] { passes.run(module); });
  llvm::CrashRecoveryContext::Disable();
  return finished && fatal.empty();
}

}  // namespace

Result<std::string> generate_ptx(llvm::Module& module) {
  auto machine = machine_for(module);
  if (!machine) {
    return failure(std::move(machine.error()));
  }
  module.setDataLayout((*machine)->createDataLayout());
  std::string complaint;
  module.getContext().setDiagnosticHandler(std::make_unique<Complaints>(complaint));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  // A pass manager that was left in the middle cannot be taken apart: it is leaked then.
  auto passes = std::make_unique<llvm::legacy::PassManager>();
  if ((*machine)->addPassesToEmitFile(*passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return failure("llvm-target", "LLVM cannot write PTX for this processor");
  }
  if (!run_safely(*passes, module, complaint)) {
    static_cast<void>(passes.release());
    static_cast<void>(machine->release());
    return failure("llvm-compile",
                   "LLVM cannot compile this: " + (complaint.empty() ? "it crashed" : complaint));
  }
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace mansard::frontend::llvm_ir
