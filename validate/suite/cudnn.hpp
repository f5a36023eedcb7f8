#pragma once

#include <cstdint>
#include <memory>

namespace mansard::measure {

/// Attention without a mask as cuDNN's fused operation, through its backend API, found at run time
/// (no header needed). All tensors bf16 and packed: q, o [batch, q_heads, q_len, dim], k, v [batch,
/// kv_heads, kv_len, dim].
struct CudnnAttentionShape {
  std::int64_t batch = 1;
  std::int64_t q_heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t q_len = 1;
  std::int64_t kv_len = 1;
  std::int64_t dim = 128;
};

class CudnnAttention {
 public:
  /// The first plan of the heuristic that can be made. Throws Unsupported when cuDNN is absent or
  /// has none.
  explicit CudnnAttention(const CudnnAttentionShape& shape);
  ~CudnnAttention();
  CudnnAttention(const CudnnAttention&) = delete;
  CudnnAttention& operator=(const CudnnAttention&) = delete;

  [[nodiscard]] std::int64_t workspace_bytes() const;
  /// Enqueues one call; `stream` is a cudaStream_t.
  void run(const void* q, const void* k, const void* v, void* o, void* workspace, void* stream);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace mansard::measure
