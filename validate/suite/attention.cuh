#pragma once

#include <cstdint>

#include <cuda_bf16.h>

#include "validate/suite/gpu/lab.cuh"

namespace mansard::measure {

/// q and o are [batch, q_heads, q_len, head_dim], k and v [batch, kv_heads, kv_len, head_dim]; the
/// last of the queries sees every key, and with `causal` each earlier one fewer by one.
struct AttentionShape {
  std::int64_t batch = 1;
  std::int64_t q_heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t q_len = 1;
  std::int64_t kv_len = 1;
  std::int64_t head_dim = 128;
  bool causal = false;

  [[nodiscard]] std::int64_t q_count() const { return batch * q_heads * q_len * head_dim; }
  [[nodiscard]] std::int64_t kv_count() const { return batch * kv_heads * kv_len * head_dim; }
  [[nodiscard]] float scale() const;
};

[[nodiscard]] AttentionShape attention_shape(const Row& row);

struct AttentionTensors {
  const __nv_bfloat16* q;
  const __nv_bfloat16* k;
  const __nv_bfloat16* v;
  __nv_bfloat16* o;
};

/// Bytes of workspace that run_decode needs.
[[nodiscard]] std::size_t decode_workspace(const AttentionShape& shape, int sms);

/// One query a sequence; keys split over blocks and merged by a second kernel. head_dim 64 or 128,
/// else Unsupported.
void run_decode(const AttentionShape& shape, const AttentionTensors& tensors, void* workspace,
                int sms, cudaStream_t stream);

/// Many queries: flash attention on mma.sync. head_dim 64 or 128, else Unsupported.
void run_prefill(const AttentionShape& shape, const AttentionTensors& tensors, cudaStream_t stream);

/// Compares sampled rows of o with double precision. Throws DeviceError with the worst element.
void check_attention(const AttentionShape& shape, const AttentionTensors& tensors,
                     const Stream& stream);

/// How an implementation runs a shape: called for each set's tensors.
using AttentionCall = std::function<void(const AttentionTensors&, cudaStream_t)>;

/// Allocates, checks and times; `row` holds the implementation's name.
void measure_attention(Lab& lab, Row row, const AttentionShape& shape, const AttentionCall& call,
                       bool warm);

}  // namespace mansard::measure
