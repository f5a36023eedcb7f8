#include <algorithm>

#include "validate/suite/attention.cuh"
#include "validate/suite/mma.cuh"

namespace mansard::measure {
namespace {

constexpr int kWarps = 4;
constexpr int kRows = 16;
constexpr int kKeysOfWarp = 16;
constexpr int kKeysOfBlock = kWarps * kKeysOfWarp;

struct Geometry {
  int q_heads;
  int kv_heads;
  int group;
  int kv_len;
  int keys_of_split;
  float scale_log2;
};

/// Sixteen bytes: eight elements, in pairs.
using Pairs = std::uint32_t[4];

__device__ void load_pairs(Pairs& pairs, const __nv_bfloat16* data) {
  const uint4 v = __ldg(reinterpret_cast<const uint4*>(data));
  pairs[0] = v.x;
  pairs[1] = v.y;
  pairs[2] = v.z;
  pairs[3] = v.w;
}

/// The query heads that share one key head are the rows of a tile; K and V go from memory to the
/// fragments without shared memory: the order of the contraction over head_dim and of the output's
/// columns is free, so each lane takes sixteen bytes in a row.
template <int kDim>
class WarpTile {
 public:
  static constexpr int kChunks = kDim / 32;
  static constexpr int kGroups = kDim / 64;

  __device__ WarpTile() : g_(threadIdx.x % 32 / 4), t_(threadIdx.x % 4) {}

  __device__ void load_queries(const __nv_bfloat16* q, int rows) {
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      load_pairs(q_[0][c], q + std::int64_t{min(g_, rows - 1)} * kDim + c * 32 + t_ * 8);
      load_pairs(q_[1][c], q + std::int64_t{min(g_ + 8, rows - 1)} * kDim + c * 32 + t_ * 8);
    }
  }

  __device__ void load_keys(const __nv_bfloat16* k, int first, int last) {
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
      const std::int64_t key = min(first + tile * 8 + g_, last);
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        load_pairs(k_[tile][c], k + key * kDim + c * 32 + t_ * 8);
      }
    }
  }

  __device__ void load_values(const __nv_bfloat16* v, int first, int last) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t key = min(first + 2 * t_ + (i & 1) + (i >> 1) * 8, last);
#pragma unroll
      for (int h = 0; h < kGroups; ++h) {
        load_pairs(v_[i][h], v + key * kDim + h * 64 + g_ * 8);
      }
    }
  }

  /// Scores of the loaded keys, in units of log2; keys behind `last` get -inf.
  __device__ void score(int first, int last, float scale_log2) {
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
      float c[4] = {0, 0, 0, 0};
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int p = 2 * half;
          const std::uint32_t a[4] = {q_[0][chunk][p], q_[1][chunk][p], q_[0][chunk][p + 1],
                                      q_[1][chunk][p + 1]};
          mma_bf16(c, a, k_[tile][chunk][p], k_[tile][chunk][p + 1]);
        }
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int key = first + tile * 8 + 2 * t_ + (i & 1);
        s_[tile][i] = key <= last ? c[i] * scale_log2 : -INFINITY;
      }
    }
  }

  /// Turns scores into weights against the running maximum, and rescales what was summed before.
  __device__ void soften() {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float here = row_max(
          fmaxf(fmaxf(s_[0][2 * r], s_[0][2 * r + 1]), fmaxf(s_[1][2 * r], s_[1][2 * r + 1])));
      const float top = fmaxf(max_[r], here);
      const float shrink = exp2f(max_[r] - top);
      float sum = 0;
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; ++i) {
          s_[tile][i] = exp2f(s_[tile][i] - top);
          sum += s_[tile][i];
        }
      }
      sum_[r] = sum_[r] * shrink + row_sum(sum);
      max_[r] = top;
#pragma unroll
      for (int j = 0; j < 8 * kGroups; ++j) {
        o_[j][2 * r] *= shrink;
        o_[j][2 * r + 1] *= shrink;
      }
    }
  }

  __device__ void accumulate() {
    const std::uint32_t p[4] = {pack_bf16(s_[0][0], s_[0][1]), pack_bf16(s_[0][2], s_[0][3]),
                                pack_bf16(s_[1][0], s_[1][1]), pack_bf16(s_[1][2], s_[1][3])};
#pragma unroll
    for (int h = 0; h < kGroups; ++h) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned halves = j % 2 == 0 ? 0x5410 : 0x7632;
        mma_bf16(o_[h * 8 + j], p, __byte_perm(v_[0][h][j / 2], v_[1][h][j / 2], halves),
                 __byte_perm(v_[2][h][j / 2], v_[3][h][j / 2], halves));
      }
    }
  }

  /// Into shared memory: unnormalised rows, their maximum and their sum.
  __device__ void leave(float (*o)[kDim], float* max, float* sum) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = g_ + 8 * r;
#pragma unroll
      for (int j = 0; j < 8 * kGroups; ++j) {
        const int dim = j / 8 * 64 + 16 * t_ + j % 8;
        o[row][dim] = o_[j][2 * r];
        o[row][dim + 8] = o_[j][2 * r + 1];
      }
      max[row] = max_[r];
      sum[row] = sum_[r];
    }
  }

 private:
  int g_;
  int t_;
  Pairs q_[2][kChunks];
  Pairs k_[2][kChunks];
  Pairs v_[4][kGroups];
  float s_[2][4];
  float o_[8 * kGroups][4] = {};
  float max_[2] = {-INFINITY, -INFINITY};
  float sum_[2] = {0, 0};
};

/// What the four warps of a block leave for the merge.
template <int kDim>
struct Shared {
  float o[kWarps][kRows][kDim];
  float max[kWarps][kRows];
  float sum[kWarps][kRows];
};

template <int kDim>
__device__ void run_warp(WarpTile<kDim>& tile, const __nv_bfloat16* k, const __nv_bfloat16* v,
                         int begin, int end, float scale_log2) {
  const int warp = threadIdx.x / 32;
  int first = begin + warp * kKeysOfWarp;
  if (first < end) {
    tile.load_keys(k, first, end - 1);
  }
  for (; first < end; first += kKeysOfBlock) {
    tile.load_values(v, first, end - 1);
    tile.score(first, end - 1, scale_log2);
    if (first + kKeysOfBlock < end) {
      tile.load_keys(k, first + kKeysOfBlock, end - 1);
    }
    tile.soften();
    tile.accumulate();
  }
}

/// grid: splits, kv heads x tiles of 16 query heads, batch. Writes the rows of this split,
/// unnormalised beside their maximum and sum, or, when there is one split only, the result.
template <int kDim>
__global__ void __launch_bounds__(32 * kWarps)
    decode_kernel(AttentionTensors tensors, Geometry geometry, float* partial, float2* norms) {
  __shared__ Shared<kDim> shared;
  const int tiles = (geometry.group + kRows - 1) / kRows;
  const int kv_head = blockIdx.y / tiles;
  const int first_row = blockIdx.y % tiles * kRows;
  const int rows = min(kRows, geometry.group - first_row);
  const std::int64_t head =
      std::int64_t{blockIdx.z} * geometry.q_heads + kv_head * geometry.group + first_row;
  const std::int64_t kv =
      (std::int64_t{blockIdx.z} * geometry.kv_heads + kv_head) * geometry.kv_len * kDim;
  const int begin = blockIdx.x * geometry.keys_of_split;
  const int end = min(begin + geometry.keys_of_split, geometry.kv_len);

  WarpTile<kDim> tile;
  tile.load_queries(tensors.q + head * kDim, rows);
  run_warp(tile, tensors.k + kv, tensors.v + kv, begin, end, geometry.scale_log2);
  const int warp = threadIdx.x / 32;
  tile.leave(shared.o[warp], shared.max[warp], shared.sum[warp]);
  __syncthreads();

  for (int i = threadIdx.x; i < rows * kDim; i += blockDim.x) {
    const int row = i / kDim;
    const int dim = i % kDim;
    float top = -INFINITY;
    for (int w = 0; w < kWarps; ++w) {
      top = fmaxf(top, shared.max[w][row]);
    }
    float sum = 0;
    float o = 0;
    for (int w = 0; w < kWarps; ++w) {
      const float weight = exp2f(shared.max[w][row] - top);
      sum += weight * shared.sum[w][row];
      o += weight * shared.o[w][row][dim];
    }
    if (gridDim.x == 1) {
      tensors.o[(head + row) * kDim + dim] = __float2bfloat16(o / sum);
    } else {
      const std::int64_t slot = (head + row) * gridDim.x + blockIdx.x;
      partial[slot * kDim + dim] = o;
      if (dim == 0) {
        norms[slot] = make_float2(top, sum);
      }
    }
  }
}

/// One block a query head, one thread a dimension.
__global__ void merge_kernel(const float* partial, const float2* norms, __nv_bfloat16* o,
                             int splits) {
  const std::int64_t first = std::int64_t{blockIdx.x} * splits;
  float top = -INFINITY;
  for (int s = 0; s < splits; ++s) {
    top = fmaxf(top, norms[first + s].x);
  }
  float sum = 0;
  float value = 0;
  for (int s = 0; s < splits; ++s) {
    const float weight = exp2f(norms[first + s].x - top);
    sum += weight * norms[first + s].y;
    value += weight * partial[(first + s) * blockDim.x + threadIdx.x];
  }
  o[std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x] = __float2bfloat16(value / sum);
}

/// About four blocks an SM, each with at least four steps of keys.
int keys_of_split(const AttentionShape& shape, int sms) {
  constexpr std::int64_t kBlocksOfSm = 4;
  constexpr std::int64_t kLeastKeys = 4 * kKeysOfBlock;
  const std::int64_t group = shape.q_heads / shape.kv_heads;
  const std::int64_t blocks = shape.batch * shape.kv_heads * ((group + kRows - 1) / kRows);
  const std::int64_t splits = std::clamp<std::int64_t>(
      kBlocksOfSm * sms / blocks, 1, (shape.kv_len + kLeastKeys - 1) / kLeastKeys);
  const std::int64_t keys = (shape.kv_len + splits - 1) / splits;
  return static_cast<int>((keys + kKeysOfBlock - 1) / kKeysOfBlock * kKeysOfBlock);
}

int splits_of(const AttentionShape& shape, int sms) {
  const int keys = keys_of_split(shape, sms);
  return static_cast<int>((shape.kv_len + keys - 1) / keys);
}

template <int kDim>
void launch(const AttentionShape& shape, const AttentionTensors& tensors, void* workspace, int sms,
            cudaStream_t stream) {
  constexpr float kLog2OfE = 1.44269504f;
  const int splits = splits_of(shape, sms);
  const auto group = static_cast<int>(shape.q_heads / shape.kv_heads);
  const int tiles = (group + kRows - 1) / kRows;
  const Geometry geometry{
      static_cast<int>(shape.q_heads), static_cast<int>(shape.kv_heads), group,
      static_cast<int>(shape.kv_len),  keys_of_split(shape, sms),        shape.scale() * kLog2OfE};
  const std::int64_t heads = shape.batch * shape.q_heads;
  auto* const partial = static_cast<float*>(workspace);
  auto* const norms = reinterpret_cast<float2*>(partial + heads * splits * kDim);
  const dim3 grid(splits, static_cast<unsigned>(shape.kv_heads * tiles),
                  static_cast<unsigned>(shape.batch));
  decode_kernel<kDim><<<grid, 32 * kWarps, 0, stream>>>(tensors, geometry, partial, norms);
  check_launch();
  if (splits > 1) {
    merge_kernel<<<static_cast<unsigned>(heads), kDim, 0, stream>>>(partial, norms, tensors.o,
                                                                    splits);
    check_launch();
  }
}

}  // namespace

std::size_t decode_workspace(const AttentionShape& shape, int sms) {
  const std::size_t slots = shape.batch * shape.q_heads * splits_of(shape, sms);
  return slots * (shape.head_dim * sizeof(float) + sizeof(float2));
}

void run_decode(const AttentionShape& shape, const AttentionTensors& tensors, void* workspace,
                int sms, cudaStream_t stream) {
  switch (shape.head_dim) {
    case 64:
      return launch<64>(shape, tensors, workspace, sms, stream);
    case 128:
      return launch<128>(shape, tensors, workspace, sms, stream);
    default:
      throw Unsupported("our decode attention has head_dim 64 and 128 only");
  }
}

}  // namespace mansard::measure
