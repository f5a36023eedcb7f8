#include "validate/measure/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace mansard::measure {
namespace {

/// A generator whose sequence is the same with every library (PCG-XSH-RR, O'Neill 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint32_t next() {
    const std::uint64_t old = state_;
    state_ = old * 6364136223846793005ull + 1442695040888963407ull;
    const auto shifted = static_cast<std::uint32_t>(((old >> 18) ^ old) >> 27);
    const auto turn = static_cast<std::uint32_t>(old >> 59);
    return (shifted >> turn) | (shifted << ((32 - turn) & 31));
  }
  double uniform() { return next() * 0x1p-32; }
  std::int64_t log_uniform(double low, double high) {
    return std::llround(low * std::pow(high / low, uniform()));
  }

 private:
  std::uint64_t state_;
};

struct Model {
  std::string_view name;
  std::int64_t hidden;
  std::int64_t q_heads;
  std::int64_t kv_heads;
  std::int64_t head_dim;
  std::int64_t ffn;
  std::int64_t vocab;
};

constexpr Model kModels[] = {
    {"llama3-8b", 4096, 32, 8, 128, 14336, 128256},
    {"llama3.2-1b", 2048, 32, 8, 64, 8192, 128256},
    {"llama3-70b", 8192, 64, 8, 128, 28672, 128256},
    {"qwen2.5-7b", 3584, 28, 4, 128, 18944, 152064},
    {"mistral-7b", 4096, 32, 8, 128, 14336, 32000},
    {"gemma2-9b", 3584, 16, 8, 256, 14336, 256000},
    {"qwen3-32b", 5120, 64, 8, 128, 25600, 151936},
    {"llama2-7b", 4096, 32, 32, 128, 11008, 32000},
};

using Rows = std::vector<Row>;

Row matmul(std::string_view dtype, std::string_view model, std::int64_t m, std::int64_t n,
           std::int64_t k) {
  Row row{{"op", "matmul"}, {"dtype", dtype}, {"model", model}};
  return row.set("m", m).set("n", n).set("k", k);
}

/// The linear layers of one model for `m` tokens.
void add_linears(Rows& rows, const Model& model, std::string_view dtype, std::int64_t m) {
  const std::int64_t q = model.q_heads * model.head_dim;
  const std::int64_t kv = model.kv_heads * model.head_dim;
  rows.push_back(matmul(dtype, model.name, m, q + 2 * kv, model.hidden));
  rows.push_back(matmul(dtype, model.name, m, model.hidden, q));
  rows.push_back(matmul(dtype, model.name, m, 2 * model.ffn, model.hidden));
  rows.push_back(matmul(dtype, model.name, m, model.hidden, model.ffn));
}

Rows model_matmuls() {
  Rows rows;
  for (const Model& model : kModels) {
    for (const std::int64_t m : {1, 8, 16, 32, 64, 128, 256, 512, 2048, 8192}) {
      add_linears(rows, model, "bf16", m);
    }
    for (const std::int64_t m : {1, 16, 64, 256, 1024, 4096}) {
      add_linears(rows, model, "fp8", m);
    }
    rows.push_back(matmul("bf16", model.name, 16, model.vocab, model.hidden));
  }
  for (const std::string_view dtype : {"fp16", "tf32", "fp32", "int8"}) {
    for (const std::int64_t m : {1, 32, 256, 2048}) {
      add_linears(rows, kModels[0], dtype, m);
      add_linears(rows, kModels[1], dtype, m);
    }
  }
  return rows;
}

/// Log-uniform m, n, k; every third with dimensions that are no multiple of 8.
Rows arbitrary_matmuls() {
  constexpr std::uint64_t kSeed = 20261130;
  constexpr int kCount = 240;
  constexpr std::string_view kTypes[] = {"bf16", "bf16", "bf16", "fp16", "fp8", "tf32"};
  Random random(kSeed);
  Rows rows;
  for (int i = 0; i < kCount; ++i) {
    const std::string_view dtype = kTypes[i % std::size(kTypes)];
    const bool unaligned = i % 3 == 0 && dtype != "fp8";
    const std::int64_t multiple = unaligned ? 1 : 16;
    const auto draw = [&](double low, double high) {
      const std::int64_t value = random.log_uniform(low, high);
      return std::max<std::int64_t>(1, value / multiple) * multiple;
    };
    const std::int64_t m = random.log_uniform(1, 16384);
    const std::int64_t n = draw(64, 32768);
    rows.push_back(matmul(dtype, unaligned ? "unaligned" : "arbitrary", m, n, draw(64, 32768)));
  }
  for (const std::int64_t size : {256, 512, 1024, 2048, 4096, 6144, 8192, 12288}) {
    for (const std::string_view dtype : {"bf16", "fp16", "fp8", "tf32", "fp32", "int8"}) {
      rows.push_back(matmul(dtype, "square", size, size, size));
    }
  }
  for (const std::int64_t batch : {8, 64, 512}) {
    rows.push_back(matmul("bf16", "batched", 128, 128, 128).set("batch", batch));
    rows.push_back(matmul("bf16", "batched", 512, 512, 64).set("batch", batch));
  }
  return rows;
}

/// Few rows in the formats whose kernels differ most there.
Rows small_row_matmuls() {
  Rows rows;
  for (const std::string_view dtype : {"fp16", "tf32", "fp32", "int8"}) {
    for (const std::int64_t m : {2, 4, 8, 16, 64, 128}) {
      for (const int index : {0, 1, 2}) {
        add_linears(rows, kModels[index], dtype, m);
      }
    }
  }
  return rows;
}

/// A linear layer whose inner or outer dimension is off a multiple of 8 by 1, 2 or 4.
Rows unaligned_linears() {
  constexpr std::int64_t kHidden = 4096;
  Rows rows;
  for (const std::string_view dtype : {"bf16", "fp16"}) {
    for (const std::int64_t m : {1, 16, 256, 4096}) {
      for (const std::int64_t n : {kHidden, std::int64_t{14336}}) {
        for (const std::int64_t off : {1, 2, 4}) {
          rows.push_back(matmul(dtype, "unaligned-k", m, n, kHidden + off));
          rows.push_back(matmul(dtype, "unaligned-n", m, n + off, kHidden));
        }
      }
    }
  }
  return rows;
}

Row attention(std::string_view phase, const Model& model, std::int64_t batch, std::int64_t q_len,
              std::int64_t kv_len, int causal) {
  Row row{{"op", "attention"}, {"dtype", "bf16"}, {"phase", phase}};
  return row.set("batch", batch)
      .set("q_heads", model.q_heads)
      .set("kv_heads", model.kv_heads)
      .set("q_len", q_len)
      .set("kv_len", kv_len)
      .set("head_dim", model.head_dim)
      .set("causal", causal);
}

Rows attentions() {
  constexpr std::int64_t kMostTokens = 1 << 20;
  Rows rows;
  for (const int index : {0, 1, 2, 7}) {
    const Model& model = kModels[index];
    for (const std::int64_t batch : {1, 8, 32, 128}) {
      for (const std::int64_t length : {512, 2048, 8192, 32768}) {
        if (batch * length <= kMostTokens) {
          rows.push_back(attention("decode", model, batch, 1, length, 0));
        }
      }
    }
    for (const std::int64_t length : {128, 512, 1024, 2048, 4096, 8192}) {
      rows.push_back(attention("prefill", model, 1, length, length, 1));
      rows.push_back(attention("prefill", model, 1, length, length, 0));
    }
    rows.push_back(attention("prefill", model, 4, 2048, 2048, 1));
    rows.push_back(attention("chunk", model, 1, 256, 8192, 0));
    rows.push_back(attention("chunk", model, 1, 2048, 16384, 0));
  }
  return rows;
}

Row experts(std::string_view model, std::string_view dtype, int count, int top_k,
            std::int64_t tokens, std::int64_t k, std::int64_t n, std::string_view spread) {
  Row row{{"op", "grouped_matmul"}, {"dtype", dtype}, {"model", model}, {"spread", spread}};
  return row.set("experts", count)
      .set("top_k", top_k)
      .set("tokens", tokens)
      .set("k", k)
      .set("n", n);
}

Rows grouped_matmuls() {
  Rows rows;
  for (const std::int64_t tokens : {1, 8, 32, 128, 512, 2048}) {
    for (const std::string_view spread : {"uniform", "zipf"}) {
      rows.push_back(experts("mixtral-8x7b", "bf16", 8, 2, tokens, 4096, 28672, spread));
      rows.push_back(experts("mixtral-8x7b", "bf16", 8, 2, tokens, 14336, 4096, spread));
      rows.push_back(experts("qwen3-30b-a3b", "bf16", 128, 8, tokens, 2048, 1536, spread));
    }
  }
  return rows;
}

Row row_wise(std::string_view op, std::string_view dtype, std::int64_t rows, std::int64_t cols) {
  return Row{{"op", op}, {"dtype", dtype}}.set("rows", rows).set("cols", cols);
}

Rows row_ops() {
  Rows rows;
  for (const std::int64_t count : {1, 16, 64, 256, 1024, 4096, 16384}) {
    for (const std::int64_t cols : {768, 2048, 4096, 8192}) {
      for (const std::string_view op : {"rmsnorm", "layernorm", "softmax", "rope"}) {
        rows.push_back(row_wise(op, "bf16", count, cols));
      }
      rows.push_back(row_wise("embedding", "bf16", count, cols));
    }
    for (const std::int64_t cols : {1536, 8192, 14336, 28672}) {
      rows.push_back(row_wise("silu_mul", "bf16", count, cols));
      rows.push_back(row_wise("gelu", "bf16", count, cols));
    }
  }
  for (const std::int64_t count : {1, 16, 128}) {
    rows.push_back(row_wise("softmax", "bf16", count, 128256));
    rows.push_back(row_wise("softmax", "fp32", count, 32000));
  }
  return rows;
}

Rows streams() {
  Rows rows;
  for (std::int64_t elements = 1024; elements <= std::int64_t{1} << 30; elements *= 2) {
    for (const std::string_view op : {"copy", "add", "triad", "fill"}) {
      rows.push_back(Row{{"op", op}, {"dtype", "bf16"}}.set("elements", elements));
    }
    rows.push_back(Row{{"op", "copy"}, {"dtype", "fp32"}}.set("elements", elements));
    rows.push_back(Row{{"op", "triad"}, {"dtype", "fp32"}}.set("elements", elements));
  }
  return rows;
}

Rows layers() {
  Rows rows;
  for (const std::int64_t batch : {1, 16, 64, 256}) {
    for (const std::int64_t context : {512, 2048, 8192}) {
      Row row{{"op", "layer"}, {"dtype", "bf16"}, {"phase", "decode"}, {"model", "llama3-8b"}};
      rows.push_back(row.set("batch", batch).set("context", context));
    }
  }
  return rows;
}

void shuffle(Rows& rows, Random& random) {
  for (std::size_t i = rows.size(); i > 1; --i) {
    std::swap(rows[i - 1], rows[random.next() % i]);
  }
}

std::vector<Rows> by_op(const Rows& rows) {
  std::map<std::string, Rows, std::less<>> groups;
  for (const Row& row : rows) {
    groups[std::string(row.text("op"))].push_back(row);
  }
  std::vector<Rows> result;
  for (auto& [op, group] : groups) {
    result.push_back(std::move(group));
  }
  return result;
}

/// Each group spread evenly over the whole: the i-th of n comes at (i + 1/2) / n.
Rows interleave(std::vector<Rows> groups) {
  constexpr std::uint64_t kSeed = 7;
  Random random(kSeed);
  using Place = std::pair<double, std::size_t>;  // Equal places keep the order of the groups.
  std::vector<std::pair<Place, Row>> placed;
  for (Rows& group : groups) {
    shuffle(group, random);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(group.size());
      placed.emplace_back(Place{at, placed.size()}, std::move(group[i]));
    }
  }
  std::ranges::sort(placed, {}, &std::pair<Place, Row>::first);
  Rows rows;
  for (auto& [place, row] : placed) {
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::vector<Row> default_ops() {
  std::vector<Rows> groups;
  for (const Rows& rows :
       {model_matmuls(), arbitrary_matmuls(), small_row_matmuls(), unaligned_linears(),
        attentions(), grouped_matmuls(), row_ops(), streams(), layers()}) {
    for (Rows& of_one_op : by_op(rows)) {
      groups.push_back(std::move(of_one_op));
    }
  }
  return interleave(std::move(groups));
}

}  // namespace mansard::measure
