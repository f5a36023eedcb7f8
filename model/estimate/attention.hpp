#pragma once

#include <string>

#include "model/estimate/pieces.hpp"

namespace mansard::model::estimators {

/// An attention op in the terms of its kernels.
struct AttentionShape {
  ir::Expr sequences;
  ir::Expr heads;     ///< Query heads.
  ir::Expr kv_heads;  ///< Key heads: 1 in the latent form.
  ir::Expr queries;   ///< New tokens of a sequence.
  ir::Expr keys;      ///< Keys read of a sequence.
  ir::Expr pairs;     ///< Query-key pairs of a head and sequence, masked ones not counted.
  ir::Expr key_dim;
  ir::Expr value_dim;
  std::string variant;  ///< Behind "decode" or "prefill" in parameter names: ".mla.fp8.bf16", types
                        ///< of keys and queries.
};

/// One new token per sequence, the keys of a sequence split over blocks ("flash decoding"):
///
///   tiles = ceil(keys / 128); S = tiles > 4 ? clamp(ceil(2 SM / (b kv)), 1, min(max_split, tiles))
///   : 1 splits walk  = tile * ceil(tiles / S) * (1 + d/128)/2 * (1 + mma * max(0, ceil(heads/kv /
///   16) - 1) / 4) latency = max(walk, b kv S / (SM resident) * (fill + walk)); memory = bytes /
///   (main * bandwidth) T = start + (latency^p + memory^p)^(1/p) + [S > 1] (reduce + b heads S (v +
///   2) 8 B / (reduce_rate * bandwidth))
///
/// `tile` is the time of one tile of 128 keys in one block, `fill` a block's start, `resident` the
/// blocks of a processor, `reduce` the kernel that adds the splits. Source: cuDNN 9.19 on an H200,
/// 2026-11-30: 63 rows within 2.2 % in sample, 3.2 % with the head configuration left out.
[[nodiscard]] OpEstimate decode_attention(const OpContext& context, const AttentionShape& shape);

/// Many new tokens: persistent blocks over tiles of 128 queries, each walking its tiles of 128
/// keys; a tile of scores takes
///
///   u = 4 * 128 * 128 * d / (matrix * rate per SM) + 128 * 128 / (special * exp rate per SM)
///
/// because exponentials hide little behind the matrix engine here. Tiles of work, T = ceil(q/128),
/// n = ceil(keys/128):
///
///   not causal   ceil(b h T / SM) * (n + turn)
///   causal       longest = n + turn + diagonal; b h T <= SM ? longest : max(longest, b h (pairs of
///   tiles + T (turn + diagonal)) / SM + tail * longest) T = max(start + u * work, start + bytes /
///   bandwidth, energy of the matrix engine / dynamic power)
///
/// Source: cuDNN 9.19 on an H200, 2026-11-30: 50 prefill rows within 3.5 %, 18 chunk rows
/// within 4.4 %. A window makes pairs / 128^2 + T pairs of tiles (two ragged edges).
[[nodiscard]] OpEstimate prefill_attention(const OpContext& context, const AttentionShape& shape);

/// FlashAttention-2: one kernel for decode and for chunks, whose splits fill the processors
/// (num_splits_heuristic in flash_api.cpp of Dao-AILab/flash-attention 2.x):
///
///   decode swaps the query heads of a group in for queries; B = sequences * heads * ceil(queries /
///   64) blocks, N tiles of keys S = 1 if B >= 0.8 * 2 SM, else the fewest splits that reach
///   `split_efficiency` of the best share of busy places waves = ceil(B S / 2 SM); latency = waves
///   * (fill (whole_fill if unsplit) + ceil(N / S) * tile), times `solo` where a processor
///           has one block; memory = bytes / (main (whole_main if unsplit) * bandwidth)
///   T = start + (latency^p + memory^p)^(1/p) + [S > 1] (reduce + partial results)
///
/// Chunks that are not split run as `prefill_attention`. Source: 63 decode and 18 chunk rows on an
/// H200, 2026-11-30: 4.2 and 6 %; splits follow the source of the library.
[[nodiscard]] OpEstimate split_attention(const OpContext& context, const AttentionShape& shape,
                                         const Chip& chip);

}  // namespace mansard::model::estimators
