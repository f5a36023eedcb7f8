#include "frontend/hf/build/builder.hpp"

namespace mansard::frontend::hf {

using ir::Expr;
using ir::Split;
using ir::TensorId;

namespace {

/// Features of the fused projection of queries (twice with an elementwise gate), keys and values.
struct Features {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t values = 0;
  std::int64_t gates = 0;

  explicit Features(const Attention& a)
      : queries(a.heads * a.head_dim),
        keys(a.shares_cache ? 0 : a.kv_heads * a.head_dim),
        values(a.shares_cache || a.key_is_value ? 0 : a.kv_heads * a.value_dim) {
    if (a.gate == OutputGate::kElementwise) {
      gates = a.heads * a.value_dim;
    } else if (a.gate == OutputGate::kPerHead) {
      gates = a.heads;
    }
  }
  [[nodiscard]] std::int64_t all() const { return queries + keys + values + gates; }
};

ir::AttentionPairs pairs_of(const Builder& b, const Attention& attention) {
  switch (attention.span) {
    case Span::kWindow:
      return ir::windowed_pairs(b.context(), b.q_len(), attention.reach);
    case Span::kChunk:
      return ir::chunked_pairs(b.context(), b.q_len(), attention.reach);
    case Span::kFull:
      break;
  }
  return ir::causal_pairs(b.context(), b.q_len());
}

std::int64_t qk_gains(const Attention& a, std::int64_t heads) {
  switch (a.qk_norm) {
    case QkNorm::kNone:
    case QkNorm::kWithoutGain:
      return 0;
    case QkNorm::kPerHead:
      return a.head_dim;
    case QkNorm::kEachHead:
    case QkNorm::kFullWidth:
      break;
  }
  return heads * a.head_dim;
}

/// Over each head, or over the full width; in place.
void build_qk_norm(Builder& b, const Attention& a, TensorId qkv) {
  const bool whole = a.qk_norm == QkNorm::kFullWidth;
  const auto normalise = [&](const char* name, std::int64_t heads) {
    b.norm_into({.name = name,
                 .input = qkv,
                 .rows = whole ? b.tokens() : b.tokens() * b.number(heads),
                 .columns = whole ? heads * a.head_dim : a.head_dim,
                 .gains = qk_gains(a, heads),
                 .may_bias = a.qk_norm_bias,
                 .split = Split::kHeads},
                qkv);
  };
  normalise("attention.q_norm", a.heads);
  if (!a.shares_cache) {
    normalise("attention.k_norm", a.kv_heads);
  }
  if (a.value_norm && !a.shares_cache) {
    b.norm_into({.name = "attention.v_norm",
                 .input = qkv,
                 .rows = b.tokens() * b.number(a.kv_heads),
                 .columns = a.value_dim,
                 .split = Split::kHeads},
                qkv);
  }
}

void build_rope(Builder& b, const Attention& a, TensorId qkv) {
  const std::int64_t heads = a.heads + (a.shares_cache ? 0 : a.kv_heads);
  b.op({.kind = "rope",
        .name = "attention.rope",
        .dims = {{"t", b.tokens()},
                 {"r", b.tokens() * b.number(heads)},
                 {"d", b.number(a.rope_dims)}},
        .operands = {{"x", qkv}},
        .split = Split::kHeads});
}

TensorId build_cache(Builder& b, const Attention& a, TensorId qkv) {
  auto& shared = b.caches[static_cast<std::size_t>(a.span)];
  if (a.shares_cache && shared) {
    return *shared;
  }
  const std::int64_t width = a.head_dim + a.value_dim;
  const Expr kept =
      a.span == Span::kFull ? b.context() : min(b.context(), static_cast<double>(a.reach));
  const TensorId cache =
      b.tensor("attention.kv_cache", ir::Role::kKvCache,
               {b.batch(), b.number(a.kv_heads), kept, b.number(width)}, b.architecture().kv);
  b.op({.kind = "kv_write",
        .name = "attention.kv_write",
        .dims = {{"n", b.tokens() * b.number(a.kv_heads * width)}},
        .operands = {{"x", qkv}, {"cache", cache}},
        .split = Split::kHeads});
  shared = cache;
  return cache;
}

TensorId build_gate(Builder& b, const Attention& a, TensorId qkv, TensorId output) {
  if (a.gate == OutputGate::kNone) {
    return output;
  }
  const Expr width = b.number(a.heads * a.value_dim);
  const Expr gates =
      a.gate == OutputGate::kElementwise ? b.tokens() * width : b.tokens() * b.number(a.heads);
  return b.elementwise({.name = "attention.gate",
                        .inputs = {output, qkv},
                        .shape = {b.tokens(), width},
                        .read = b.tokens() * width + gates,
                        .arithmetic = 3,
                        .special = 1,
                        .function = "sigmoid_mul",
                        .split = Split::kHeads});
}

TensorId build_kernel(Builder& b, const Attention& a, TensorId queries, TensorId cache) {
  const ir::AttentionPairs pairs = pairs_of(b, a);
  const TensorId output =
      b.activation("attention.out", {b.tokens(), b.number(a.heads * a.value_dim)});
  OpSpec op = {.kind = "attention",
               .name = "attention",
               .dims = {{"b", b.batch()},
                        {"h", b.number(a.heads)},
                        {"g", b.number(a.kv_heads)},
                        {"q", b.q_len()},
                        {"t", pairs.keys_read},
                        {"p", pairs.pairs},
                        {"d", b.number(a.head_dim)},
                        {"v", b.number(a.value_dim)},
                        {"sink", b.number(a.sinks ? 1 : 0)}},
               .operands = {{"q", queries}, {"k", cache}, {"v", cache}, {"o", output}},
               .split = Split::kHeads};
  if (a.sinks) {
    op.operands.emplace_back("sink", b.weight("attention.sinks", {a.heads}));
  }
  b.op(std::move(op));
  return output;
}

/// Over all heads together, where the model has it.
TensorId build_inner_norm(Builder& b, const Attention& a, TensorId mixed) {
  if (!a.inner_norm) {
    return mixed;
  }
  const std::int64_t width = a.heads * a.value_dim;
  return b.norm({.name = "attention.inner_norm",
                 .input = mixed,
                 .rows = b.tokens(),
                 .columns = width,
                 .gains = width,
                 .split = Split::kHeads});
}

}  // namespace

void build_attention(Builder& b, const Attention& a, TensorId input, TensorId output) {
  const Features features(a);
  const TensorId qkv = b.matmul({.name = "attention.qkv",
                                 .input = input,
                                 .rows = b.tokens(),
                                 .in = b.hidden(),
                                 .out = features.all(),
                                 .role = WeightRole::kQkv,
                                 .split = Split::kColumn,
                                 .bias = a.qkv_bias ? features.all() : 0});
  if (a.qk_norm != QkNorm::kNone) {
    build_qk_norm(b, a, qkv);
  }
  if (a.rope_dims > 0) {
    build_rope(b, a, qkv);
  }
  const TensorId cache = build_cache(b, a, qkv);
  const TensorId gated = build_gate(b, a, qkv, build_kernel(b, a, qkv, cache));
  const TensorId mixed = build_inner_norm(b, a, gated);
  b.matmul_into({.name = "attention.output",
                 .input = mixed,
                 .rows = b.tokens(),
                 .in = a.heads * a.value_dim,
                 .out = b.hidden(),
                 .role = WeightRole::kOutput,
                 .split = Split::kRow,
                 .bias = a.output_bias ? b.hidden() : 0},
                output);
}

}  // namespace mansard::frontend::hf
