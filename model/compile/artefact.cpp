#include "model/compile/artefact.hpp"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include "model/compile/emit.hpp"

namespace mansard::model::compile {
namespace {

struct Target {
  std::string triple;
  std::string cpu;
  std::string features;
};

Target target_of(const ArtefactOptions& options) {
  const ArtefactForm form = options.form;
  const std::string& cpu = options.cpu;
  if (form == ArtefactForm::kWasm) {
    return {"wasm32-unknown-unknown", "generic", ""};
  }
  if (form == ArtefactForm::kPtx) {
    return {"nvptx64-nvidia-cuda", cpu == "native" ? "sm_80" : cpu, ""};
  }
  if (cpu != "native") {
    return {llvm::sys::getProcessTriple(), cpu, ""};
  }
  llvm::SubtargetFeatures features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    features.AddFeature(feature.first(), feature.second);
  }
  return {llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(), features.getString()};
}

/// Doubles that a vector register of the target holds.
unsigned width_of(const llvm::TargetMachine& machine) {
  const auto has = [&](const char* feature) {
    return machine.getMCSubtargetInfo()->checkFeatures(feature);
  };
  if (machine.getTargetTriple().isX86()) {
    return has("+avx512f") && has("+avx512vl") ? 8 : has("+avx2") ? 4 : 2;
  }
  return machine.getTargetTriple().isAArch64() ? 2 : 1;
}

Result<std::unique_ptr<llvm::TargetMachine>> machine_for(const Target& target, bool contract) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  std::string reason;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, reason);
  if (found == nullptr) {
    return failure("llvm", "LLVM: " + reason);
  }
  llvm::TargetOptions options;
  // Standard: where the instructions themselves allow it.
  options.AllowFPOpFusion = contract ? llvm::FPOpFusion::Standard : llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(target.triple, target.cpu, target.features, options,
                                 llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine->getMCSubtargetInfo()->isCPUStringValid(target.cpu)) {
    return failure("unknown-cpu",
                   "LLVM knows no processor '" + target.cpu + "' of " + target.triple);
  }
  return machine;
}

}  // namespace

Result<std::string> emit_text(const Program& program, std::span<const double> fixed,
                              const ArtefactOptions& options) {
  const ArtefactForm form = options.form;
  auto machine = machine_for(target_of(options), options.contract);
  if (!machine) {
    return failure(std::move(machine.error()));
  }
  llvm::LLVMContext context;
  const auto module = emit_artefact(context, program, fixed,
                                    {.width = width_of(**machine),
                                     .kernel = form == ArtefactForm::kPtx,
                                     .contract = options.contract});
  module->setDataLayout((*machine)->createDataLayout());
  module->setTargetTriple((*machine)->getTargetTriple().str());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  if (form == ArtefactForm::kLlvmIr) {
    module->print(out, nullptr);
    return std::string(bytes.begin(), bytes.end());
  }
  llvm::legacy::PassManager passes;
  const auto type = form == ArtefactForm::kPtx ? llvm::CodeGenFileType::AssemblyFile
                                               : llvm::CodeGenFileType::ObjectFile;
  if ((*machine)->addPassesToEmitFile(passes, out, nullptr, type)) {
    return failure("llvm", "LLVM cannot write this form for that target");
  }
  passes.run(*module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace mansard::model::compile
