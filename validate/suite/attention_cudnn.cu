#include <algorithm>

#include "validate/suite/attention.cuh"
#include "validate/suite/cudnn.hpp"
#include "validate/suite/gpu/environment.cuh"
#include "validate/suite/ops.cuh"

namespace mansard::measure {
namespace {

/// "cudnn-9.19" of "9.19.0".
std::string implementation() {
  const std::string version = cudnn_version();
  return "cudnn-" + version.substr(0, version.rfind('.'));
}

}  // namespace

void measure_cudnn_attention(Lab& lab, const Row& row, bool warm) {
  const AttentionShape shape = attention_shape(row);
  if (shape.causal) {
    throw Unsupported("cuDNN's attention operation is measured without a mask only");
  }
  if (!cudnn_library().found()) {
    throw Unsupported("libcudnn was not found");
  }
  Row measured = row;
  measured.set("implementation", implementation())
      .set("mode", "graph")
      .set("cache", warm ? "warm" : "cold")
      .set("flag", warm ? "fits_l2" : "");
  const double bytes = 4.0 * static_cast<double>(shape.kv_count());
  if (lab.skips(measured) || (warm && !lab.fits_l2(bytes))) {
    return;
  }
  CudnnAttention attention(
      {shape.batch, shape.q_heads, shape.kv_heads, shape.q_len, shape.kv_len, shape.head_dim});
  void* const workspace =
      lab.arena().take(std::max<std::int64_t>(attention.workspace_bytes(), 256));
  const auto call = [&](const AttentionTensors& t, cudaStream_t stream) {
    attention.run(t.q, t.k, t.v, t.o, workspace, stream);
  };
  measure_attention(lab, measured, shape, call, warm);
}

}  // namespace mansard::measure
