#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "validate/suite/gpu/lab.cuh"

namespace mansard::measure {

/// y[m,n] = x[m,k] . w[n,k]^T, all row-major, `batch` times: what a linear layer does.
struct MatmulShape {
  /// bf16, fp16, fp8 (e4m3, bf16 out), tf32, fp32, int8 (int32 out). Accumulates in fp32 (int32).
  std::string_view dtype;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t batch = 1;
};

/// The element type of y: "bf16" for fp8, "int32" for int8, "fp32" for tf32, otherwise that of x.
[[nodiscard]] std::string_view matmul_output(std::string_view dtype);

/// One shape planned on cuBLASLt: the first algorithm of its heuristic with 32 MiB of workspace.
/// Throws Unsupported when it has none, or when this program was built without cuBLASLt.
class Matmul {
 public:
  /// `workspace` holds kWorkspaceBytes on the device and stays the caller's.
  Matmul(const MatmulShape& shape, void* workspace);
  ~Matmul();
  Matmul(Matmul&&) noexcept;
  Matmul& operator=(Matmul&&) noexcept;

  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

  void run(const void* x, const void* w, void* y, cudaStream_t stream) const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// Compares a sample of y with products in double precision. Throws DeviceError with the worst
/// element.
void check_matmul(const MatmulShape& shape, const void* x, const void* w, const void* y,
                  const Stream& stream);

/// A row of the suite: op=matmul, dtype, m, n, k, batch.
void measure_matmul(Lab& lab, const Row& row, bool warm);

}  // namespace mansard::measure
