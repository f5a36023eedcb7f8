#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What a kernel does, told by its name and by the op that launched it.
namespace mansard::ir {

/// Output tile and what else a library writes into its kernels' names.
struct KernelTile {
  int m = 0;  ///< Rows of the output tile as the name has it; 0: not told.
  int n = 0;
  int k = 0;
  int stages = 0;
  bool split_k = false;
};

struct KernelClass {
  /// Kinds of op that it may be, the likeliest first; empty: not known.
  std::vector<std::string> kinds;
  /// It finishes what the kernel before began: a split-K reduction, an attention's combination.
  bool continues = false;
  std::string
      library;  ///< "cublas", "cudnn", "triton", "cutlass", "flash-attention", "nccl", "pytorch".
  std::string dtype;  ///< "bf16"; "" if the name does not tell.
  KernelTile tile;

  [[nodiscard]] std::string kind() const { return kinds.empty() ? "" : kinds.front(); }
  [[nodiscard]] bool is(std::string_view kind) const;
};

/// Decodes names of cuBLAS (nvjet, xmma, cutlass, gemv), cuDNN, CUTLASS, Triton and torch.compile,
/// FlashAttention, vLLM, NCCL and RCCL, PyTorch's native kernels, Tensile. `op` is the framework's
/// op, "" if it is not known.
[[nodiscard]] KernelClass classify_kernel(std::string_view name, std::string_view op);

}  // namespace mansard::ir
