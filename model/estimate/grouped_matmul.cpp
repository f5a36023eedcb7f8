#include "model/estimate/estimators.hpp"
#include "model/estimate/tiles.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

constexpr double kNever = 1e6;  // s

constexpr double kStepBytes = 128;  ///< Of K, in one step of a tile.

/// Experts that the rows are expected to touch.
Expr touched_experts(const OpContext& context) {
  return ir::max(ir::min(context.dim("u"), context.dim("e")), 1);
}

/// Padded FLOP and latency of the kernel with tiles of `tile_m` rows.
Typed<Seconds> tile_time(const OpContext& context, const KernelKind& kind, Expr tile_m) {
  const Expr touched = touched_experts(context);
  const Expr tile_n = context.parameter("tile_n");
  const Expr k = context.dim("k");
  const Expr tiles = touched * ir::ceil_div(context.dim("m") / touched, tile_m) *
                     ir::ceil_div(context.dim("n"), tile_n);
  const Expr waves = ir::ceil_div(tiles, kind.chip.sms);
  const Expr flops = 2 * tile_m * tile_n * k * context.pool().unit(kFlop);
  const Expr small = 1 + context.parameter("half") / tile_m;
  const Expr matrix =
      waves * kind.chip.sms * flops * small / (context.parameter("matrix") * kind.rate.peak.expr());
  const Expr steps = k * context.pool().constant(context.dtype("a").bits / 8, kByte) /
                     context.pool().constant(kStepBytes, kByte);
  const Expr latency =
      waves * (context.parameter("fill", kSecond) + steps * context.parameter("step", kSecond));
  return Typed<Seconds>(ir::max(matrix, latency));
}

/// The best of the library's tiles.
Typed<Seconds> tiled_time(const OpContext& context, const KernelKind& kind) {
  const Expr never = context.pool().constant(kNever, kSecond);
  Expr best = never;
  for (const double tile : {16.0, 32.0, 64.0, 128.0}) {
    const Expr tile_m = context.pool().constant(tile);
    const Expr is_missing = ir::less(tile_m, context.parameter("tile_least")) +
                            ir::less(context.parameter("tile_most"), tile_m);
    best = ir::min(best, ir::select(is_missing, never, tile_time(context, kind, tile_m).expr()));
  }
  return Typed<Seconds>(best);
}

}  // namespace

/// The experts' matmuls in one kernel, every expert's rows padded to tiles of t x tile_n, t the
/// best of 16, 32, 64 and 128 between `tile_least` and `tile_most`:
///
///   T = start + route * rows + setup * touched + (memory^p + tiles^p)^(1/p)
///   tiles = max(matrix, latency); matrix = padded FLOP of whole waves * (1 + half / t) / (matrix *
///   rate); latency = waves * (fill + step * steps over K)
///
/// memory: weights of the experts touched and activations at `main` of the bandwidth. `route` and
/// `setup` are what a fused layer's permutation and grouping cost per row and expert, `half` the
/// tile at which the matrix engine reaches half of its rate. Source: torch's grouped matmul
/// (CUTLASS) on an H200, 2026-11-30: 56 rows of two models within 6.3 %, 17 and 9 % with the model
/// left out; fused layers: aiconfigurator's tables of H100 and B200.
OpEstimate grouped_matmul(const OpContext& context) {
  const Typed<Seconds> start(context.parameter("start", kSecond));
  const Typed<Seconds> memory(context.demand.bytes.expr() /
                              (context.parameter("main") * context.main.expr()));
  const Typed<Seconds> route(context.dim("m") * context.parameter("route", kSecond) +
                             touched_experts(context) * context.parameter("setup", kSecond));
  const auto chip = chip_of(context);
  const Typed<Seconds> tiles = chip && context.rate
                                   ? tiled_time(context, {.chip = *chip, .rate = *context.rate})
                                   : contraction_time(context);
  return {.time = start + route + overlap(memory, tiles, context.parameter("overlap")),
          .terms = {{"start", start, {}},
                    {"route", route, {}},
                    {"memory", memory, {}},
                    {"tiles", tiles, {}}},
          .launches = context.parameter("launches")};
}

}  // namespace mansard::model::estimators
