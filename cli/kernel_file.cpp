#include "cli/kernel_file.hpp"

#include <memory>
#include <utility>

#include "frontend/llvm/device_code.hpp"
#include "support/document.hpp"
#include "support/plugin.hpp"

namespace mansard::cli {
namespace {

using frontend::llvm_ir::DeviceCode;

Result<frontend::ptx::Parsed> through_llvm(const std::string& path) {
  auto source = read_file(path);
  if (!source) {
    return failure(std::move(source.error()));
  }
  const auto llvm = llvm_interface<DeviceCode>();
  if (!llvm) {
    return failure(llvm.error());
  }
  auto ptx = (*llvm)->to_ptx(*source);
  if (!ptx) {
    return failure(std::move(ptx.error()));
  }
  return frontend::ptx::parse(std::make_shared<const SourceFile>(
      SourceFile{.name = path + " (as PTX)", .text = *std::move(ptx)}));
}

}  // namespace

Result<frontend::ptx::Parsed> read_kernels(const std::string& path) {
  return frontend::llvm_ir::is_device_code(path) ? through_llvm(path)
                                                 : frontend::ptx::parse_file(path);
}

}  // namespace mansard::cli
