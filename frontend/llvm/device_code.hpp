#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "support/result.hpp"
#include "support/source.hpp"

/// LLVM IR of a GPU kernel, text (.ll) or bitcode (.bc), as `clang --cuda-device-only -emit-llvm`
/// writes it.
///
///     Result<const DeviceCode*> llvm = llvm_interface<DeviceCode>();
///     Result<std::string> ptx = (*llvm)->to_ptx(source);   // then frontend::ptx::parse
namespace mansard::frontend::llvm_ir {

class DeviceCode {
 public:
  static constexpr const char* kEntry = "mansard_device_code";

  virtual ~DeviceCode() = default;
  /// The PTX that LLVM's NVPTX target makes of a module, for the processor that the module names;
  /// debug locations become `.loc`. Errors: text or bitcode that LLVM cannot read, a module that
  /// does not verify, is not for nvptx64, or that the target cannot compile.
  [[nodiscard]] virtual Result<std::string> to_ptx(
      const std::shared_ptr<const SourceFile>& source) const = 0;
};

/// True of names that end in .ll or .bc.
[[nodiscard]] inline bool is_device_code(std::string_view path) {
  return path.ends_with(".ll") || path.ends_with(".bc");
}

}  // namespace mansard::frontend::llvm_ir
