#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "model/program/program.hpp"
#include "support/result.hpp"

/// What model/compile (in libmansard_llvm.so) offers the rest.
namespace mansard::model {

/// Machine code of a program, loaded.
class Kernel {
 public:
  /// Computes the row slots.
  using Row = void (*)(const double* fixed, const double* row, double* hoisted);
  /// Computes `n` points, a multiple of `width`; columns[i] holds the values of point symbol i.
  using Points = void (*)(const double* fixed, const double* row, const double* hoisted,
                          const double* const* columns, double* const* out, std::int64_t n);

  virtual ~Kernel() = default;
  Row row = nullptr;
  Points points = nullptr;
  std::size_t width = 1;
};

/// What a program can be emitted as.
enum class ArtefactForm : std::uint8_t { kLlvmIr, kObject, kWasm, kPtx };

/// How a program is emitted.
struct ArtefactOptions {
  ArtefactForm form = ArtefactForm::kObject;
  std::string cpu = "native";  ///< Or as LLVM calls it: "x86-64-v3", "sm_90".
  /// Whether a product and a sum may become one multiply-add, which rounds once: each differs by at
  /// most half an ulp of its product from what the interpreter computes.
  bool contract = false;
};

class KernelCompiler {
 public:
  static constexpr const char* kEntry = "mansard_kernel_compiler";

  virtual ~KernelCompiler() = default;
  /// The processor that code is made for, with its features: part of a cached object's name.
  [[nodiscard]] virtual std::string host() const = 0;
  /// An object file of the program.
  [[nodiscard]] virtual Result<std::string> compile(const Program& program) const = 0;
  /// A program of fixed and point symbols that stands alone, as one function `mansard_evaluate`:
  /// text of kLlvmIr and kPtx, an object file to be linked otherwise. `fixed` holds the values of
  /// the fixed slots.
  [[nodiscard]] virtual Result<std::string> emit(const Program& program,
                                                 std::span<const double> fixed,
                                                 const ArtefactOptions& options) const = 0;
  /// The code of an object file, ready to run. Errors: no object file of `compile`.
  [[nodiscard]] virtual Result<std::shared_ptr<const Kernel>> load(
      const std::string& object) const = 0;
};

}  // namespace mansard::model
