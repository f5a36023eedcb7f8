#include "frontend/llvm/device_code.hpp"

#include <algorithm>
#include <utility>

#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include "frontend/llvm/code_generator.hpp"

namespace mansard::frontend::llvm_ir {
namespace {

using Source = std::shared_ptr<const SourceFile>;

/// Where LLVM found an error; nowhere in bitcode.
Location location_of(const llvm::SMDiagnostic& found, const Source& source) {
  if (found.getLineNo() <= 0) {
    return {};
  }
  const std::string& text = source->text;
  std::size_t at = 0;
  for (int line = 1; line < found.getLineNo(); ++line) {
    const std::size_t end = text.find('\n', at);
    at = end == std::string::npos ? text.size() : end + 1;
  }
  const auto column = static_cast<std::size_t>(std::max(0, found.getColumnNo()));
  at = std::min(at + column, text.size());
  return {source, at, std::min(at + 1, text.size())};
}

tl::unexpected<Diagnostics> refused(const Source& source, const char* id, const std::string& why) {
  return failure(id, source->name + ": " + why);
}

Result<std::unique_ptr<llvm::Module>> read(const Source& source, llvm::LLVMContext& context) {
  llvm::SMDiagnostic found;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(source->text, source->name), found, context);
  if (module == nullptr) {
    const Location place = location_of(found, source);
    const std::string message = "LLVM cannot read this: " + found.getMessage().str();
    return place.file ? failure("llvm-ir", message, place) : refused(source, "llvm-ir", message);
  }
  std::string complaint;
  llvm::raw_string_ostream out(complaint);
  if (llvm::verifyModule(*module, &out)) {
    return refused(source, "llvm-verify",
                   "the module is not valid: " + complaint.substr(0, complaint.find('\n')));
  }
  return module;
}

/// What the module was compiled for, if that is not a GPU of ours.
Result<void> check_target(const Source& source, const llvm::Module& module) {
  const llvm::Triple triple(module.getTargetTriple());
  if (triple.getArch() == llvm::Triple::nvptx64) {
    return {};
  }
  const std::string name = module.getTargetTriple();
  const std::string what = triple.getArch() == llvm::Triple::nvptx ? "32-bit device code"
                           : name.empty() ? "a module without a target triple"
                                          : "code for " + name;
  return refused(source, "llvm-triple",
                 "expected device code for nvptx64-nvidia-cuda, found " + what +
                     "; compile with clang++ --cuda-device-only -S -emit-llvm");
}

class Reader final : public DeviceCode {
 public:
  [[nodiscard]] Result<std::string> to_ptx(const Source& source) const override {
    llvm::LLVMContext context;
    auto module = read(source, context);
    if (!module) {
      return failure(std::move(module.error()));
    }
    if (auto fits = check_target(source, **module); !fits) {
      return failure(std::move(fits.error()));
    }
    auto ptx = generate_ptx(**module);
    if (!ptx) {
      static_cast<void>(module->release());  // what a pass may have left half done
      return refused(source, ptx.error().front().id.c_str(), ptx.error().front().message);
    }
    return ptx;
  }
};

}  // namespace
}  // namespace mansard::frontend::llvm_ir

extern "C" const mansard::frontend::llvm_ir::DeviceCode* mansard_device_code() {
  static const mansard::frontend::llvm_ir::Reader reader;
  return &reader;
}
