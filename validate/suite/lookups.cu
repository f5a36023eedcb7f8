#include <algorithm>
#include <cmath>

#include "validate/suite/own_op.cuh"
#include "validate/suite/vector.cuh"

namespace mansard::measure {
namespace {

using Role = Operand::Role;

constexpr int kThreads = 256;
constexpr std::int64_t kHeadDim = 128;
constexpr std::int64_t kVocabulary = 128256;

unsigned blocks_for(std::size_t work) {
  return static_cast<unsigned>((work + kThreads - 1) / kThreads);
}

/// One thread a vector of y: y[t] = table[index[t]].
template <typename T>
__global__ void embedding_kernel(const T* __restrict__ table,
                                 const std::uint32_t* __restrict__ index, T* __restrict__ y,
                                 std::int64_t rows, int vectors) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < rows * vectors) {
    const auto t = static_cast<std::uint32_t>(i / vectors);
    const auto v = static_cast<std::uint32_t>(i % vectors);
    store(y, i, load(table, std::size_t{index[t]} * vectors + v));
  }
}

std::int64_t vocabulary(const Row& row) {
  return row.integer_or("vocab", kVocabulary);
}

std::vector<Operand> embedding_operands(const Row& row) {
  const std::size_t rows = row.integer("rows");
  const std::size_t cols = row.integer("cols");
  const std::string_view dtype = row.text("dtype");
  return {{dtype, vocabulary(row) * cols, Role::kShared},
          {"index", rows, Role::kInput, static_cast<std::uint32_t>(vocabulary(row))},
          {dtype, rows * cols, Role::kOutput}};
}

void launch_embedding(const Row& row, std::span<void* const> data, cudaStream_t stream) {
  with_type(row.text("dtype"), [&](auto* type) {
    using T = Pointee<decltype(type)>;
    const auto vectors = static_cast<int>(row.integer("cols") / Vector<T>::kWidth);
    const std::int64_t rows = row.integer("rows");
    embedding_kernel<T><<<blocks_for(rows * vectors), kThreads, 0, stream>>>(
        static_cast<const T*>(data[0]), static_cast<const std::uint32_t*>(data[1]),
        static_cast<T*>(data[2]), rows, vectors);
  });
  check_launch();
}

void embedding_reference(const Row& row, HostTensors& tensors) {
  const std::int64_t cols = row.integer("cols");
  for (std::int64_t i = 0; i < row.integer("rows") * cols; ++i) {
    const auto token = static_cast<std::int64_t>(tensors[1][i / cols]);
    tensors[2][i] = tensors[0][token * cols + i % cols];
  }
}

/// In place; a pair is (i, i + half) of a head; `angles` holds cos and sin of each position, half
/// of each.
template <typename T>
__global__ void rope_kernel(T* __restrict__ x, const float* __restrict__ angles,
                            std::int64_t pairs_of_vectors, int half_vectors, int row_pairs) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= pairs_of_vectors) {
    return;
  }
  constexpr int kWidth = Vector<T>::kWidth;
  const std::int64_t head = i / half_vectors;
  const int v = static_cast<int>(i % half_vectors);
  const std::int64_t token = i / row_pairs;
  const std::int64_t low = head * 2 * half_vectors + v;
  const float* const cosines = angles + token * 2 * half_vectors * kWidth + v * kWidth;
  const float* const sines = cosines + half_vectors * kWidth;
  Vector<T> a = load(x, low);
  Vector<T> b = load(x, low + half_vectors);
#pragma unroll
  for (int lane = 0; lane < kWidth; ++lane) {
    const auto p = static_cast<float>(a.lane[lane]);
    const auto q = static_cast<float>(b.lane[lane]);
    a.lane[lane] = static_cast<T>(p * cosines[lane] - q * sines[lane]);
    b.lane[lane] = static_cast<T>(q * cosines[lane] + p * sines[lane]);
  }
  store(x, low, a);
  store(x, low + half_vectors, b);
}

std::int64_t head_dim(const Row& row) {
  return row.integer_or("head_dim", kHeadDim);
}

/// `rows` tokens, `cols` = (query heads + key heads) x head dim, all rotated.
std::vector<Operand> rope_operands(const Row& row) {
  const std::int64_t rows = row.integer("rows");
  if (row.integer("cols") % head_dim(row) != 0 || head_dim(row) % 16 != 0) {
    throw Unsupported("rope needs cols to be a multiple of the head dim, itself one of 16");
  }
  return {{row.text("dtype"), static_cast<std::size_t>(rows * row.integer("cols")), Role::kInOut},
          {"angle", static_cast<std::size_t>(rows * head_dim(row)), Role::kShared,
           static_cast<std::uint32_t>(head_dim(row))}};
}

void launch_rope(const Row& row, std::span<void* const> data, cudaStream_t stream) {
  with_type(row.text("dtype"), [&](auto* type) {
    using T = Pointee<decltype(type)>;
    const auto half_vectors = static_cast<int>(head_dim(row) / 2 / Vector<T>::kWidth);
    const auto row_pairs = static_cast<int>(row.integer("cols") / 2 / Vector<T>::kWidth);
    const std::int64_t pairs = row.integer("rows") * row_pairs;
    rope_kernel<T><<<blocks_for(pairs), kThreads, 0, stream>>>(static_cast<T*>(data[0]),
                                                               static_cast<const float*>(data[1]),
                                                               pairs, half_vectors, row_pairs);
  });
  check_launch();
}

void rope_reference(const Row& row, HostTensors& tensors) {
  const std::int64_t cols = row.integer("cols");
  const std::int64_t dim = head_dim(row);
  for (std::int64_t pair = 0; pair < row.integer("rows") * cols / 2; ++pair) {
    const std::int64_t token = pair / (cols / 2);
    const std::int64_t lane = pair % (dim / 2);
    const std::int64_t low = pair / (dim / 2) * dim + lane;
    const float cosine = tensors[1][token * dim + lane];
    const float sine = tensors[1][token * dim + dim / 2 + lane];
    const float p = tensors[0][low];
    const float q = tensors[0][low + dim / 2];
    tensors[0][low] = p * cosine - q * sine;
    tensors[0][low + dim / 2] = q * cosine + p * sine;
  }
}

}  // namespace

std::span<const OwnOp> lookup_ops() {
  static const OwnOp kOps[] = {
      {"embedding", embedding_operands, launch_embedding, embedding_reference,
       Row{{"rows", "37"}, {"cols", "256"}, {"vocab", "1000"}}},
      {"rope", rope_operands, launch_rope, rope_reference,
       Row{{"rows", "7"}, {"cols", "768"}, {"head_dim", "128"}}}};
  return kOps;
}

}  // namespace mansard::measure
