#include <vector>

#include <cuda_bf16.h>

#include "validate/suite/attention.cuh"
#include "validate/suite/gpu/environment.cuh"
#include "validate/suite/matmul.cuh"
#include "validate/suite/ops.cuh"
#include "validate/suite/own_op.cuh"

namespace mansard::measure {
namespace {

using Element = __nv_bfloat16;

struct LayerShape {
  std::int64_t hidden;
  std::int64_t q_heads;
  std::int64_t kv_heads;
  std::int64_t head_dim;
  std::int64_t ffn;
};

LayerShape layer_shape(std::string_view model) {
  if (model == "llama3-8b") {
    return {4096, 32, 8, 128, 14336};
  }
  if (model == "llama3-70b") {
    return {8192, 64, 8, 128, 28672};
  }
  throw Unsupported("layers of llama3-8b and llama3-70b are known, not of '" + std::string(model) +
                    "'");
}

/// The new token's key and value into the last place of the cache; from the qkv matmul's rows.
__global__ void cache_write_kernel(const Element* qkv, Element* k, Element* v, int row, int q_width,
                                   int kv_heads, int head_dim, int kv_len) {
  const int head = blockIdx.x;
  const std::int64_t from =
      std::int64_t{blockIdx.y} * row + q_width + head * head_dim + threadIdx.x;
  const std::int64_t to =
      ((std::int64_t{blockIdx.y} * kv_heads + head) * kv_len + kv_len - 1) * head_dim + threadIdx.x;
  k[to] = qkv[from];
  v[to] = qkv[from + kv_heads * head_dim];
}

/// The queries out of the qkv rows, into a tensor of their own.
__global__ void take_queries_kernel(const Element* qkv, Element* q, int row, int q_width) {
  for (int i = threadIdx.x; i < q_width; i += blockDim.x) {
    q[std::int64_t{blockIdx.x} * q_width + i] = qkv[std::int64_t{blockIdx.x} * row + i];
  }
}

/// Every tensor and plan of one layer for one batch and context.
class Layer {
 public:
  Layer(Lab& lab, const LayerShape& shape, std::int64_t batch, std::int64_t context)
      : shape_(shape),
        batch_(batch),
        sms_(lab.device().sms),
        attention_{batch, shape.q_heads, shape.kv_heads, 1, context, shape.head_dim, false},
        workspace_(lab.arena().take(Matmul::kWorkspaceBytes)),
        qkv_plan_(plan(qkv_width(), shape.hidden)),
        out_plan_(plan(shape.hidden, q_width())),
        up_plan_(plan(2 * shape.ffn, shape.hidden)),
        down_plan_(plan(shape.hidden, shape.ffn)),
        split_(lab.arena().take(decode_workspace(attention_, sms_))) {
    const std::int64_t sizes[] = {qkv_width() * shape.hidden, shape.hidden * q_width(),
                                  2 * shape.ffn * shape.hidden, shape.hidden * shape.ffn};
    for (const std::int64_t size : sizes) {
      weights_.push_back(random(lab, size));
    }
    gain_ = random(lab, shape.hidden);
    k_ = random(lab, attention_.kv_count());
    v_ = random(lab, attention_.kv_count());
    x_ = random(lab, batch * shape.hidden);
    normed_ = random(lab, batch * shape.hidden);
    qkv_ = random(lab, batch * qkv_width());
    q_ = random(lab, batch * q_width());
    o_ = random(lab, batch * q_width());
    up_ = random(lab, batch * 2 * shape.ffn);
    act_ = random(lab, batch * shape.ffn);
    angles_ = lab.arena().take_array<float>(batch * shape.head_dim);
    fill_angles(angles_, batch * shape.head_dim, static_cast<std::uint32_t>(shape.head_dim),
                lab.seed(), lab.stream());
  }

  /// rmsnorm, qkv, rope, cache write, attention (+ merge), out, add, rmsnorm, gate and up, silu,
  /// down, add.
  void run(cudaStream_t stream) const {
    const auto row_op = [&](std::string_view name, std::int64_t rows, std::int64_t cols,
                            std::initializer_list<void*> operands) {
      Row row{{"dtype", "bf16"}};
      row.set("rows", rows).set("cols", cols).set("head_dim", shape_.head_dim);
      const std::vector<void*> data(operands);
      find_own_op(name)->launch(row, data, stream);
    };
    row_op("rmsnorm", batch_, shape_.hidden, {x_, gain_, normed_});
    qkv_plan_.run(normed_, weights_[0], qkv_, stream);
    attend(stream, row_op);
    out_plan_.run(o_, weights_[1], normed_, stream);
    row_op("add", batch_, shape_.hidden, {x_, normed_, normed_});
    row_op("rmsnorm", batch_, shape_.hidden, {normed_, gain_, normed_});
    up_plan_.run(normed_, weights_[2], up_, stream);
    row_op("silu_mul", batch_, shape_.ffn, {up_, up_ + batch_ * shape_.ffn, act_});
    down_plan_.run(act_, weights_[3], normed_, stream);
    row_op("add", batch_, shape_.hidden, {x_, normed_, normed_});
  }

  void check(const Stream& stream) const {
    check_matmul({"bf16", batch_, shape_.hidden, shape_.ffn, 1}, act_, weights_[3],
                 down_only(stream), stream);
    check_attention(attention_, tensors(), stream);
  }

 private:
  [[nodiscard]] std::int64_t q_width() const { return shape_.q_heads * shape_.head_dim; }
  [[nodiscard]] std::int64_t qkv_width() const {
    return q_width() + 2 * shape_.kv_heads * shape_.head_dim;
  }
  [[nodiscard]] Matmul plan(std::int64_t n, std::int64_t k) const {
    return {{"bf16", batch_, n, k, 1}, workspace_};
  }
  [[nodiscard]] AttentionTensors tensors() const { return {q_, k_, v_, o_}; }

  static Element* random(Lab& lab, std::int64_t count) {
    auto* const data = lab.arena().take_array<Element>(count);
    fill_random("bf16", data, count, lab.seed(), lab.stream());
    return data;
  }

  template <typename RowOp>
  void attend(cudaStream_t stream, const RowOp& row_op) const {
    const auto batch = static_cast<unsigned>(batch_);
    const auto head_dim = static_cast<int>(shape_.head_dim);
    const auto kv_heads = static_cast<int>(shape_.kv_heads);
    const auto row = static_cast<int>(qkv_width());
    take_queries_kernel<<<batch, 256, 0, stream>>>(qkv_, q_, row, static_cast<int>(q_width()));
    row_op("rope", batch_, q_width(), {q_, angles_});
    cache_write_kernel<<<dim3(kv_heads, batch), head_dim, 0, stream>>>(
        qkv_, k_, v_, row, static_cast<int>(q_width()), kv_heads, head_dim,
        static_cast<int>(attention_.kv_len));
    check_launch();
    run_decode(attention_, tensors(), split_, sms_, stream);
  }

  /// The down product again, before the residual is added onto it.
  [[nodiscard]] const Element* down_only(cudaStream_t stream) const {
    down_plan_.run(act_, weights_[3], normed_, stream);
    return normed_;
  }

  LayerShape shape_;
  std::int64_t batch_;
  int sms_;
  AttentionShape attention_;
  void* workspace_;
  Matmul qkv_plan_;
  Matmul out_plan_;
  Matmul up_plan_;
  Matmul down_plan_;
  void* split_;
  std::vector<Element*> weights_;
  Element* gain_;
  Element* k_;
  Element* v_;
  Element* x_;
  Element* normed_;
  Element* qkv_;
  Element* q_;
  Element* o_;
  Element* up_;
  Element* act_;
  float* angles_;
};

}  // namespace

void measure_layer(Lab& lab, const Row& row, bool) {
  Row measured = row;
  measured.set("implementation", "mansard-" + cublaslt_name())
      .set("mode", "graph")
      .set("cache", "cold");
  if (lab.skips(measured)) {
    return;
  }
  if (row.text("phase") != "decode") {
    throw Unsupported("layers are measured in phase decode");
  }
  const Layer layer(lab, layer_shape(row.text("model")), row.integer("batch"),
                    row.integer("context"));
  layer.run(lab.stream());
  layer.check(lab.stream());
  const auto call = [&](cudaStream_t stream, int) { layer.run(stream); };
  constexpr int kMostCalls = 64;
  lab.record(measured, lab.time({call, Rotation{}, kMostCalls}));
}

}  // namespace mansard::measure
