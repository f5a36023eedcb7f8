#include "validate/case_graphs.hpp"
#include "validate/single_op.hpp"

/// Matmuls, attention and expert layers.
namespace mansard::validate::cases {
namespace {

using ir::Expr;

/// Pairs of the first `x` tokens of a causal sequence, each attending to at most `window` tokens.
Expr pairs_of_first(Expr x, Expr window) {
  const Expr inside = ir::min(x, window);
  return ir::floor_div(inside * (inside + 1), 2) + ir::max(x - window, 0) * window;
}

struct Masked {
  Expr pairs;
  Expr keys;
};

/// The columns q_len, kv_len, causal (1 or 0) and window (0: none) as query-key pairs and keys
/// read.
Masked masked(GraphMaker& maker) {
  const Expr q = maker.column("q_len");
  const Expr kv = maker.column("kv_len");
  const Expr given = maker.column("window");
  const Expr window = ir::select(ir::less(maker.number(0), given), given, kv);
  const Expr causal = pairs_of_first(kv, window) - pairs_of_first(kv - q, window);
  return {.pairs = ir::select(maker.column("causal"), causal, q * kv),
          .keys = ir::min(kv, window + q - 1)};
}

}  // namespace

ir::Graph matmul(const ir::Measurement& row) {
  GraphMaker maker(row);
  const RowTypes types = row_types(row.dtype);
  return maker
      .op("matmul",
          {{"b", maker.column("batch")},
           {"m", maker.column("m")},
           {"n", maker.column("n")},
           {"k", maker.column("k")}},
          {{"w", types.weight}})
      .take();
}

ir::Graph attention(const ir::Measurement& row) {
  GraphMaker maker(row);
  const Masked mask = masked(maker);
  return maker
      .op("attention",
          {{"b", maker.column("batch")},
           {"h", maker.column("q_heads")},
           {"g", maker.column("kv_heads")},
           {"q", maker.column("q_len")},
           {"t", mask.keys},
           {"p", mask.pairs},
           {"d", maker.column("head_dim")},
           {"v", maker.column("head_dim")}},
          {{"k", &maker.kv_dtype()}, {"v", &maker.kv_dtype()}})
      .take();
}

/// Decode in the latent space (512 + 64); prefill with keys of 192 and values of 128 for every
/// head.
ir::Graph mla_attention(const ir::Measurement& row) {
  constexpr double kLatent = 512;
  constexpr double kRotary = 64;
  constexpr double kKey = 192;
  constexpr double kValue = 128;
  GraphMaker maker(row);
  const Masked mask = masked(maker);
  if (row.phase == "decode") {
    return maker
        .op("mla_attention",
            {{"b", maker.column("batch")},
             {"h", maker.column("q_heads")},
             {"q", maker.column("q_len")},
             {"t", mask.keys},
             {"p", mask.pairs},
             {"r", maker.number(kLatent)},
             {"d", maker.number(kRotary)}},
            {{"cache", &maker.kv_dtype()}})
        .take();
  }
  return maker
      .op("attention",
          {{"b", maker.column("batch")},
           {"h", maker.column("q_heads")},
           {"g", maker.column("q_heads")},
           {"q", maker.column("q_len")},
           {"t", mask.keys},
           {"p", mask.pairs},
           {"d", maker.number(kKey)},
           {"v", maker.number(kValue)}},
          {{"k", &maker.kv_dtype()}, {"v", &maker.kv_dtype()}})
      .take();
}

/// One expert matmul; the row says how many experts its tokens touched.
ir::Graph grouped_matmul(const ir::Measurement& row) {
  GraphMaker maker(row);
  const Expr touched = maker.column("experts_touched");
  return maker
      .op("grouped_matmul", {{"m", maker.column("tokens") * maker.column("top_k")},
                             {"n", maker.column("n")},
                             {"k", maker.column("k")},
                             {"e", maker.column("experts")},
                             {"u", touched},
                             {"l", touched}})
      .take();
}

/// A fused expert layer on one rank: up (and gate), activation, down. Experts are split over `ep`
/// ranks, their width over `tp`. The files do not say which experts a run touched: the bound takes
/// the fewest.
ir::Graph moe(const ir::Measurement& row) {
  GraphMaker maker(row);
  const RowTypes types = row_types(row.dtype);
  const Expr ep = maker.column("ep");
  const Expr tokens = maker.column("tokens");
  const Expr top_k = maker.column("top_k");
  const Expr all = maker.column("experts");
  const Expr held = ir::ceil_div(all, ep);
  const Expr rows = tokens * top_k / ep;
  const Expr width = maker.column("expert_ffn") / maker.column("tp");
  const Expr gates = 1 + maker.column("gated");
  const Expr hidden = maker.column("hidden");
  const bool balanced = row.phase == "balanced";
  // Balanced routing spreads rows over all experts; otherwise uniform random routing is expected.
  const Expr expected =
      balanced ? ir::min(held, ir::max(rows, 1)) : held * (1 - ir::pow(1 - top_k / all, tokens));
  const Expr fewest = ir::min(top_k / ep, held);
  maker.op("grouped_matmul",
           {{"m", rows},
            {"n", gates * width},
            {"k", hidden},
            {"e", held},
            {"u", expected},
            {"l", fewest}},
           {{"w", types.weight}});
  maker
      .op("elementwise", {{"n", rows * width},
                          {"i", gates * rows * width},
                          {"a", maker.number(3)},
                          {"s", maker.number(2)}})
      .attribute("function", "silu_mul");
  maker.op("grouped_matmul",
           {{"m", rows}, {"n", hidden}, {"k", width}, {"e", held}, {"u", expected}, {"l", fewest}},
           {{"w", types.weight}});
  return maker.take();
}

/// `bytes` is the full message.
ir::Graph collective(const ir::Measurement& row) {
  GraphMaker maker(row);
  const Expr n = maker.column("bytes") * (8 / maker.dtype().bits);
  return maker.op(row.op, {{"n", n}, {"p", maker.column("gpus")}}).take();
}

}  // namespace mansard::validate::cases
