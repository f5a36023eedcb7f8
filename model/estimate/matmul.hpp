#pragma once

#include "model/estimate/pieces.hpp"
#include "model/estimate/tiles.hpp"

namespace mansard::model::estimators {

/// A matmul in the terms of its kernel.
struct MatmulShape {
  ir::Expr batch;  ///< Independent matrices.
  ir::Expr m;
  ir::Expr n;
  ir::Expr k;
  ir::Expr weights;  ///< Bytes of w, a and c.
  ir::Expr inputs;
  ir::Expr outputs;
};

/// The time of the library's kernel: of every tile of a small table, unsplit and split over K, the
/// time by one closed formula; the least of those that the library considers is taken.
///
///   step K elements = line / element; tiles = ceil(m/tm) ceil(n/tn) batch split;
///   waves = ceil(tiles / SM); rounds = ceil(tiles / (SM blocks)), blocks a processor holds at once
///   mma = 2 tm tn step / (matrix * rate of a processor); feed = rows line / feed, rows of operands
///   one = (mma^8 + feed^8)^(1/8); end = epilogue * tm tn
///   compute = max(waves * (steps * one + end), rounds * (steps * max(one, tick) + prologue +
///   end)):
///           what the blocks of a processor share, or their chain of steps
///   bytes = w + miss * a + max(write_back, miss) * c; miss = clamp(2 (a + c) / L2 - 1, 0, 1): what
///           was just written is read from the last-level cache while it fits, all up to half of it
///   memory = bytes at min(main * bandwidth, blocks at work * feed): full waves and the last one
///           apart; half the rate for the first `ramp`
///   open = min(1, exposed + fill * min(1, stages / steps)), stages of shared memory: the share of
///           the lesser that does not hide
///   body = max(compute, memory) + open * min(compute, memory)
///   reduce = split > 1 ? reduce + 4 B m n batch (split + 1) / reduce_rate : 0
///   hot = 1 + (sqrt(max(1, power / cap)) - 1) * use * t / (t + warm_up); power = SM clock
///           clock_energy + rate energy use, use = compute / body: under the cap the clock falls
///           with the root of the power
///   T = start + reduce + body * hot
///
/// Operands whose rows do not start at 16 bytes are loaded element by element through registers
/// ("unaligned"): padding is not loaded, several blocks share a processor. One row of such
/// operands, or of fp32 and tf32, is a pass over the weights on the vector engine ("gemv"). Chips
/// before Hopper (`walk`, `reach`): a step also pays page walks for rows beyond the address cache's
/// reach. Libraries that run batches by other kernels have constants of their own for them
/// ("fp32.batched"). Not considered: tiles more than half padding, half of the processors idle over
/// a deep K, several rows of small tiles of a deep K. The 8-norm and the root are short rational
/// forms, within 0.2 %. Source: 490 H200 rows of cuBLASLt 13 with the kernel names beside them; the
/// unaligned form 85 rows of two campaigns, 13 % with shapes left out; 2026-11-30.
[[nodiscard]] OpEstimate tiled_matmul(const OpContext& context, const MatmulShape& shape,
                                      const KernelKind& kind);

}  // namespace mansard::model::estimators
