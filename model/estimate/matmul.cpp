#include "model/estimate/matmul.hpp"

#include "model/estimate/estimators.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

constexpr double kSingleBits = 32;  ///< fp32 and tf32: a single row goes to the vector engine.

MatmulShape shape_of(const OpContext& context) {
  return {.batch = context.dim("b"),
          .m = context.dim("m"),
          .n = context.dim("n"),
          .k = context.dim("k"),
          .weights = context.operand("w")->bytes.expr(),
          .inputs = context.operand("a")->bytes.expr(),
          .outputs = context.operand("c")->bytes.expr()};
}

/// A machine without processors: contractions beside memory.
OpEstimate untiled(const OpContext& context) {
  const Typed<Seconds> start(context.parameter("start", kSecond));
  const Typed<Seconds> memory(context.demand.bytes.expr() /
                              (context.parameter("main") * context.main.expr()));
  const Typed<Seconds> matrix = contraction_time(context);
  return {.time = start + max(memory, matrix),
          .terms = {{"start", start, {}}, {"memory", memory, {}}, {"matrix", matrix, {}}},
          .launches = context.parameter("launches")};
}

/// One row: a pass over the weights on the vector engine, each output a chain over k.
OpEstimate with_gemv(const OpContext& context, const MatmulShape& shape, std::string_view variant,
                     const OpEstimate& tiled) {
  const auto parameter = [&](std::string_view name, const Dimension& dimension = kNumber) {
    return context.parameter_of(variant, name, dimension);
  };
  const Typed<Seconds> start(parameter("start", kSecond));
  const Typed<Seconds> chain(shape.k * parameter("chain", kSecond));
  const Typed<Seconds> memory(shape.weights / (parameter("main") * context.main.expr()));
  OpEstimate pass{.time = start + max(chain, memory),
                  .terms = {{"start", start, {}}, {"chain", chain, {}}, {"memory", memory, {}}},
                  .launches = tiled.launches,
                  .below = tiled.below,
                  .above = tiled.above};
  return choose(ir::less(shape.m, 2) * ir::less(pass.time.expr(), tiled.time.expr()), pass, tiled);
}

/// 1 if every row of every operand starts at a multiple of `bytes`.
Expr is_aligned(const OpContext& context, const MatmulShape& shape, double bytes) {
  const double input = context.dtype("a").bits / 8;
  const double output = context.dtype("c").bits / 8;
  return ir::less(ir::mod(shape.n * output, bytes) + ir::mod(shape.k * input, bytes), 1);
}

bool has_alignment_classes(const Rate& rate) {
  return rate.field == "matrix.bf16" || rate.field == "matrix.fp16";
}

/// Aligned operands, with the constants of the library's kernels for batches where they are apart.
OpEstimate aligned_matmul(const OpContext& context, const MatmulShape& shape, KernelKind kind) {
  OpEstimate alone = tiled_matmul(context, shape, kind);
  if (!context.parameters.has("matmul", context.variant(), "batched_apart")) {
    return alone;
  }
  kind.is_batched = true;
  return choose(ir::less(shape.batch, 2), alone, tiled_matmul(context, shape, kind));
}

OpEstimate unaligned_matmul(const OpContext& context, const MatmulShape& shape, KernelKind kind) {
  const auto of = [&](Alignment alignment) {
    kind.alignment = alignment;
    return with_gemv(context, shape, "gemv.unaligned", tiled_matmul(context, shape, kind));
  };
  return choose(is_aligned(context, shape, 4), of(Alignment::k4), of(Alignment::k2));
}

}  // namespace

OpEstimate matmul(const OpContext& context) {
  const auto chip = chip_of(context);
  if (!context.rate || !chip) {
    return untiled(context);
  }
  const MatmulShape shape = shape_of(context);
  const KernelKind kind{.chip = *chip, .rate = *context.rate};
  const Expr aligned = is_aligned(context, shape, 16);
  const bool surely = aligned.is_constant() && aligned.constant() != 0;
  OpEstimate best = aligned_matmul(context, shape, kind);
  if (context.dtype("w").bits == kSingleBits) {
    best = with_gemv(context, shape, "gemv", best);
  }
  if (surely || !has_alignment_classes(kind.rate)) {
    return best;
  }
  return choose(aligned, best, unaligned_matmul(context, shape, kind));
}

}  // namespace mansard::model::estimators
