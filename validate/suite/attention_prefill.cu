#include "validate/suite/attention.cuh"
#include "validate/suite/mma.cuh"

namespace mansard::measure {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kQueries = 16 * kWarps;
constexpr int kKeys = 64;
constexpr int kStages = 2;

struct Geometry {
  int q_heads;
  int group;
  int q_len;
  int kv_len;
  bool causal;
  float scale_log2;
};

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_async(std::uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

__device__ void commit_copies() {
  asm volatile("cp.async.commit_group;");
}

/// All groups but the last `kPending` have arrived.
template <int kPending>
__device__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending));
}

template <bool kTransposed>
__device__ void load_matrices(std::uint32_t (&r)[4], std::uint32_t address) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
  }
}

/// kKeys rows of kDim elements in shared memory; the sixteen-byte chunks of a row are permuted so
/// that the same chunk of eight rows lies in different banks.
template <int kDim>
class KeyTile {
 public:
  static constexpr int kChunks = kDim / 8;
  static constexpr int kBytes = kKeys * kDim * 2;

  __device__ explicit KeyTile(std::uint32_t base) : base_(base) {}

  [[nodiscard]] __device__ std::uint32_t chunk(int key, int index) const {
    return base_ + (key * kChunks + (index ^ (key & 7))) * 16;
  }

  /// Keys behind the last are the last again; their scores are masked.
  __device__ void fetch(const __nv_bfloat16* rows, int first, int last) const {
#pragma unroll
    for (int i = threadIdx.x; i < kKeys * kChunks; i += kThreads) {
      const int key = i / kChunks;
      const std::int64_t row = min(first + key, last);
      copy_async(chunk(key, i % kChunks), rows + row * kDim + i % kChunks * 8);
    }
  }

 private:
  std::uint32_t base_;
};

/// Sixteen queries of one warp.
template <int kDim>
class QueryTile {
 public:
  static constexpr int kSteps = kDim / 16;
  static constexpr int kScoreTiles = kKeys / 8;
  static constexpr int kOutTiles = kDim / 8;

  __device__ QueryTile() : lane_(threadIdx.x % 32), g_(lane_ / 4), t_(lane_ % 4) {}

  __device__ void load(const __nv_bfloat16* q, int first, int last) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::int64_t row = min(first + g_ + (i & 1) * 8, last);
        const int dim = step * 16 + 2 * t_ + (i >> 1) * 8;
        q_[step][i] = *reinterpret_cast<const std::uint32_t*>(q + row * kDim + dim);
      }
    }
  }

  __device__ void score(const KeyTile<kDim>& keys) {
#pragma unroll
    for (int pair = 0; pair < kScoreTiles / 2; ++pair) {
      float* const clear = &s_[2 * pair][0];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        clear[i] = 0;
      }
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        std::uint32_t b[4];
        const int key = pair * 16 + (lane_ >> 4) * 8 + lane_ % 8;
        load_matrices<false>(b, keys.chunk(key, step * 2 + (lane_ >> 3 & 1)));
        mma_bf16(s_[2 * pair], q_[step], b[0], b[1]);
        mma_bf16(s_[2 * pair + 1], q_[step], b[2], b[3]);
      }
    }
  }

  /// -inf for keys behind each row's last; row r of the tile sees keys up to `last` + r.
  __device__ void mask(int first_key, int last, int step) {
#pragma unroll
    for (int tile = 0; tile < kScoreTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int key = first_key + tile * 8 + 2 * t_ + (i & 1);
        const int row = g_ + (i >> 1) * 8;
        s_[tile][i] = key <= last + step * row ? s_[tile][i] : -INFINITY;
      }
    }
  }

  __device__ void soften(float scale_log2) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float here = -INFINITY;
#pragma unroll
      for (int tile = 0; tile < kScoreTiles; ++tile) {
        here = fmaxf(here, fmaxf(s_[tile][2 * r], s_[tile][2 * r + 1]));
      }
      const float top = fmaxf(max_[r], row_max(here));
      const float shrink = exp2f((max_[r] - top) * scale_log2);
      float sum = 0;
#pragma unroll
      for (int tile = 0; tile < kScoreTiles; ++tile) {
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; ++i) {
          s_[tile][i] = exp2f((s_[tile][i] - top) * scale_log2);
          sum += s_[tile][i];
        }
      }
      sum_[r] = sum_[r] * shrink + sum;
      max_[r] = top;
#pragma unroll
      for (int tile = 0; tile < kOutTiles; ++tile) {
        o_[tile][2 * r] *= shrink;
        o_[tile][2 * r + 1] *= shrink;
      }
    }
  }

  __device__ void accumulate(const KeyTile<kDim>& values) {
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
      const float* const low = s_[2 * step];
      const float* const high = s_[2 * step + 1];
      const std::uint32_t p[4] = {pack_bf16(low[0], low[1]), pack_bf16(low[2], low[3]),
                                  pack_bf16(high[0], high[1]), pack_bf16(high[2], high[3])};
#pragma unroll
      for (int pair = 0; pair < kOutTiles / 2; ++pair) {
        std::uint32_t b[4];
        const int key = step * 16 + (lane_ >> 3 & 1) * 8 + lane_ % 8;
        load_matrices<true>(b, values.chunk(key, pair * 2 + (lane_ >> 4)));
        mma_bf16(o_[2 * pair], p, b[0], b[1]);
        mma_bf16(o_[2 * pair + 1], p, b[2], b[3]);
      }
    }
  }

  __device__ void store(__nv_bfloat16* o, int first, int last) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first + g_ + 8 * r;
      const float inverse = 1 / row_sum(sum_[r]);
#pragma unroll
      for (int tile = 0; tile < kOutTiles; ++tile) {
        if (row <= last) {
          *reinterpret_cast<std::uint32_t*>(o + std::int64_t{row} * kDim + tile * 8 + 2 * t_) =
              pack_bf16(o_[tile][2 * r] * inverse, o_[tile][2 * r + 1] * inverse);
        }
      }
    }
  }

 private:
  int lane_;
  int g_;
  int t_;
  std::uint32_t q_[kSteps][4];
  float s_[kScoreTiles][4];
  float o_[kOutTiles][4] = {};
  float max_[2] = {-INFINITY, -INFINITY};
  float sum_[2] = {0, 0};
};

/// grid: blocks of kQueries, the last (longest, if causal) first; query heads; batch.
template <int kDim>
__global__ void __launch_bounds__(kThreads, 1)
    prefill_kernel(AttentionTensors tensors, Geometry geometry) {
  extern __shared__ __align__(128) unsigned char memory[];
  const std::uint32_t base = shared_address(memory);
  const auto keys = [&](int stage) { return KeyTile<kDim>(base + stage * KeyTile<kDim>::kBytes); };
  const auto values = [&](int stage) {
    return KeyTile<kDim>(base + (kStages + stage) * KeyTile<kDim>::kBytes);
  };
  const std::int64_t head = std::int64_t{blockIdx.z} * geometry.q_heads + blockIdx.y;
  const std::int64_t kv = head / geometry.group * geometry.kv_len * kDim;
  const int first = (gridDim.x - 1 - blockIdx.x) * kQueries;
  const int warp_first = first + threadIdx.x / 32 * 16;
  const int last_query = geometry.q_len - 1;
  const int last_key = geometry.kv_len - 1;
  const int behind = geometry.kv_len - geometry.q_len;
  const int block_last = geometry.causal ? min(last_key, behind + first + kQueries - 1) : last_key;
  const int tiles = block_last / kKeys + 1;

  QueryTile<kDim> queries;
  queries.load(tensors.q + head * geometry.q_len * kDim, warp_first, last_query);
  keys(0).fetch(tensors.k + kv, 0, last_key);
  commit_copies();
  values(0).fetch(tensors.v + kv, 0, last_key);
  commit_copies();
  for (int tile = 0; tile < tiles; ++tile) {
    const int first_key = tile * kKeys;
    wait_copies<1>();
    __syncthreads();
    if (tile + 1 < tiles) {
      keys((tile + 1) % kStages).fetch(tensors.k + kv, first_key + kKeys, last_key);
    }
    commit_copies();
    queries.score(keys(tile % kStages));
    if (geometry.causal && first_key + kKeys - 1 > behind + warp_first) {
      queries.mask(first_key, behind + warp_first, 1);
    }
    if (first_key + kKeys - 1 > last_key) {
      queries.mask(first_key, last_key, 0);
    }
    queries.soften(geometry.scale_log2);
    wait_copies<1>();
    __syncthreads();
    if (tile + 1 < tiles) {
      values((tile + 1) % kStages).fetch(tensors.v + kv, first_key + kKeys, last_key);
    }
    commit_copies();
    queries.accumulate(values(tile % kStages));
  }
  queries.store(tensors.o + head * geometry.q_len * kDim, warp_first, last_query);
}

template <int kDim>
void launch(const AttentionShape& shape, const AttentionTensors& tensors, cudaStream_t stream) {
  constexpr float kLog2OfE = 1.44269504f;
  constexpr int kSharedBytes = 2 * kStages * KeyTile<kDim>::kBytes;
  const Geometry geometry{static_cast<int>(shape.q_heads),
                          static_cast<int>(shape.q_heads / shape.kv_heads),
                          static_cast<int>(shape.q_len),
                          static_cast<int>(shape.kv_len),
                          shape.causal,
                          shape.scale() * kLog2OfE};
  check(cudaFuncSetAttribute(prefill_kernel<kDim>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kSharedBytes));
  const dim3 grid(static_cast<unsigned>((shape.q_len + kQueries - 1) / kQueries),
                  static_cast<unsigned>(shape.q_heads), static_cast<unsigned>(shape.batch));
  prefill_kernel<kDim><<<grid, kThreads, kSharedBytes, stream>>>(tensors, geometry);
  check_launch();
}

}  // namespace

void run_prefill(const AttentionShape& shape, const AttentionTensors& tensors,
                 cudaStream_t stream) {
  switch (shape.head_dim) {
    case 64:
      return launch<64>(shape, tensors, stream);
    case 128:
      return launch<128>(shape, tensors, stream);
    default:
      throw Unsupported("our prefill attention has head_dim 64 and 128 only");
  }
}

}  // namespace mansard::measure
