#include <utility>

#include "frontend/hf/build/builder.hpp"

namespace mansard::frontend::hf {

using ir::Expr;
using ir::Split;
using ir::TensorId;

namespace {

/// What the projections leave for the attention.
struct Projected {
  TensorId queries;  ///< heads x (nope + rope)
  TensorId latent;   ///< kv_rank + rope, behind the query latent where there is one.
  TensorId query_latent;
};

Projected build_projections(Builder& b, const Mla& m, TensorId input) {
  const std::int64_t query_width = m.heads * (m.nope_dim + m.rope_dim);
  const std::int64_t latent_width = m.q_rank + m.kv_rank + m.rope_dim;
  const TensorId latent = b.matmul({.name = m.q_rank > 0 ? "attention.qkv_a" : "attention.kv_a",
                                    .input = input,
                                    .rows = b.tokens(),
                                    .in = b.hidden(),
                                    .out = latent_width,
                                    .role = WeightRole::kQkv,
                                    .split = Split::kReplicated,
                                    .bias = m.bias ? latent_width : 0});
  TensorId source = input;
  std::int64_t source_width = b.hidden();
  if (m.q_rank > 0) {
    source = b.norm({.name = "attention.q_norm",
                     .input = latent,
                     .rows = b.tokens(),
                     .columns = m.q_rank,
                     .gains = m.q_rank});
    source_width = m.q_rank;
  }
  b.norm_into({.name = "attention.kv_norm",
               .input = latent,
               .rows = b.tokens(),
               .columns = m.kv_rank,
               .gains = m.kv_rank},
              latent);
  const TensorId queries = b.matmul({.name = m.q_rank > 0 ? "attention.q_b" : "attention.q",
                                     .input = source,
                                     .rows = b.tokens(),
                                     .in = source_width,
                                     .out = query_width,
                                     .role = WeightRole::kQkv,
                                     .split = Split::kColumn});
  return {.queries = queries, .latent = latent, .query_latent = source};
}

void build_rope(Builder& b, const std::string& name, TensorId x, std::int64_t heads,
                std::int64_t dims) {
  b.op({.kind = "rope",
        .name = name,
        .dims = {{"t", b.tokens()}, {"r", b.tokens() * b.number(heads)}, {"d", b.number(dims)}},
        .operands = {{"x", x}},
        .split = Split::kHeads});
}

TensorId build_cache(Builder& b, const std::string& name, TensorId x, std::int64_t width) {
  const TensorId cache = b.tensor(name + "_cache", ir::Role::kKvCache,
                                  {b.batch(), b.context(), b.number(width)}, b.architecture().kv);
  b.op({.kind = "kv_write",
        .name = name + "_write",
        .dims = {{"n", b.tokens() * b.number(width)}},
        .operands = {{"x", x}, {"cache", cache}}});
  return cache;
}

/// One multiplication a head, as for W_UK and W_UV absorbed.
MatmulSpec per_head(Builder& b, const Mla& m, std::string name, TensorId input) {
  return {.name = std::move(name),
          .input = input,
          .rows = b.tokens(),
          .role = WeightRole::kQkv,
          .split = Split::kHeads,
          .copies = m.heads};
}

/// Scores all earlier tokens with few small heads; attention then reads the best.
void build_indexer(Builder& b, const SparseIndex& index, TensorId input, TensorId query_latent,
                   std::int64_t query_width) {
  const TensorId queries = b.matmul({.name = "indexer.q",
                                     .input = query_latent,
                                     .rows = b.tokens(),
                                     .in = query_width,
                                     .out = index.heads * index.dim,
                                     .role = WeightRole::kIndexer,
                                     .split = Split::kReplicated});
  const TensorId keys = b.matmul({.name = "indexer.k",
                                  .input = input,
                                  .rows = b.tokens(),
                                  .in = b.hidden(),
                                  .out = index.dim + index.heads,
                                  .role = WeightRole::kIndexer,
                                  .split = Split::kReplicated});
  b.layer_norm_into({.name = "indexer.k_norm",
                     .input = keys,
                     .rows = b.tokens(),
                     .columns = index.dim,
                     .gains = index.dim},
                    keys);
  const TensorId cache = build_cache(b, "indexer.k", keys, index.dim);
  const ir::AttentionPairs pairs = ir::causal_pairs(b.context(), b.q_len());
  const TensorId scores = b.activation("indexer.scores", {b.batch(), pairs.pairs});
  b.op({.kind = "attention",
        .name = "indexer.scores",
        .dims = {{"b", b.batch()},
                 {"h", b.number(index.heads)},
                 {"g", b.number(1)},
                 {"q", b.q_len()},
                 {"t", pairs.keys_read},
                 {"p", pairs.pairs},
                 {"d", b.number(index.dim)},
                 {"v", b.number(0)}},
        .operands = {{"q", queries}, {"k", cache}, {"v", cache}, {"o", scores}},
        .attributes = {{"function", "indexer"}}});
  const Expr chosen = b.batch() * ir::windowed_pairs(b.context(), b.q_len(), index.top_k).pairs;
  b.op({.kind = "elementwise",
        .name = "indexer.top_k",
        .dims = {{"n", chosen}, {"i", b.batch() * pairs.pairs}, {"a", b.number(1)}},
        .operands = {{"x", scores}, {"o", b.activation("indexer.chosen", {chosen})}},
        .attributes = {{"function", "top_k"}}});
}

ir::AttentionPairs pairs_of(const Builder& b, const Mla& m) {
  return m.index ? ir::windowed_pairs(b.context(), b.q_len(), m.index->top_k)
                 : ir::causal_pairs(b.context(), b.q_len());
}

/// In the latent space: W_UK and W_UV multiply queries and outputs, one cache serves all heads.
TensorId build_absorbed(Builder& b, const Mla& m, const Projected& x, TensorId cache) {
  MatmulSpec absorb = per_head(b, m, "attention.q_absorb", x.queries);
  absorb.in = m.nope_dim;
  absorb.out = m.kv_rank;
  const TensorId queries = b.matmul(absorb);
  const ir::AttentionPairs pairs = pairs_of(b, m);
  const TensorId mixed =
      b.activation("attention.latent_out", {b.tokens(), b.number(m.heads * m.kv_rank)});
  b.op({.kind = "mla_attention",
        .name = "attention",
        .dims = {{"b", b.batch()},
                 {"h", b.number(m.heads)},
                 {"q", b.q_len()},
                 {"t", pairs.keys_read},
                 {"p", pairs.pairs},
                 {"r", b.number(m.kv_rank)},
                 {"d", b.number(m.rope_dim)}},
        .operands = {{"q", queries}, {"cache", cache}, {"o", mixed}},
        .split = Split::kHeads});
  MatmulSpec emerge = per_head(b, m, "attention.v_absorb", mixed);
  emerge.in = m.kv_rank;
  emerge.out = m.value_dim;
  return b.matmul(emerge);
}

/// Keys and values of all heads made from the latents of the whole context.
TensorId build_expanded(Builder& b, const Mla& m, const Projected& x) {
  const TensorId keys_values = b.matmul({.name = "attention.kv_b",
                                         .input = x.latent,
                                         .rows = b.batch() * b.context(),
                                         .in = m.kv_rank,
                                         .out = m.heads * (m.nope_dim + m.value_dim),
                                         .role = WeightRole::kQkv,
                                         .split = Split::kColumn});
  const ir::AttentionPairs pairs = pairs_of(b, m);
  const TensorId output =
      b.activation("attention.out", {b.tokens(), b.number(m.heads * m.value_dim)});
  b.op({.kind = "attention",
        .name = "attention",
        .dims = {{"b", b.batch()},
                 {"h", b.number(m.heads)},
                 {"g", b.number(m.heads)},
                 {"q", b.q_len()},
                 {"t", pairs.keys_read},
                 {"p", pairs.pairs},
                 {"d", b.number(m.nope_dim + m.rope_dim)},
                 {"v", b.number(m.value_dim)}},
        .operands = {{"q", x.queries}, {"k", keys_values}, {"v", keys_values}, {"o", output}},
        .split = Split::kHeads});
  return output;
}

}  // namespace

void build_mla(Builder& b, const Mla& m, TensorId input, TensorId output) {
  const Projected x = build_projections(b, m, input);
  if (m.rotates) {
    build_rope(b, "attention.rope", x.queries, m.heads + 1, m.rope_dim);
  }
  const TensorId cache = build_cache(b, "attention.kv", x.latent, m.kv_rank + m.rope_dim);
  if (m.index && !m.index->shared) {
    build_indexer(b, *m.index, input, x.query_latent, m.q_rank > 0 ? m.q_rank : b.hidden());
  }
  // Sparse attention gathers latents, so it is absorbed in prefill too.
  const bool absorbed = b.phase() == Phase::kDecode || m.index;
  const TensorId mixed = absorbed ? build_absorbed(b, m, x, cache) : build_expanded(b, m, x);
  b.matmul_into({.name = "attention.output",
                 .input = mixed,
                 .rows = b.tokens(),
                 .in = m.heads * m.value_dim,
                 .out = b.hidden(),
                 .role = WeightRole::kOutput,
                 .split = Split::kRow,
                 .bias = m.bias ? b.hidden() : 0},
                output);
}

}  // namespace mansard::frontend::hf
