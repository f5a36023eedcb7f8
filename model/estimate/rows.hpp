#pragma once

#include "model/estimate/pieces.hpp"

/// The kinds of kernel that row-wise and elementwise ops run as. All are measured in a graph of one
/// kernel repeated; every variant ("rmsnorm", "silu_mul", "copy") has parameters of its own, costs
/// of instructions in cycles of one processor.
namespace mansard::model::estimators {

/// A kernel of one block a row, or of a few rows a block:
///
///   T = start + column * cols / 1024 + max(traffic, queued * (row + element cols + wide max(0,
///   cols - wide_from)) / SM)
///
/// `column` is the longest dependent chain of a row; `queued` = max(0, rows - SM resident) are the
/// rows that wait for a processor; up to 4 rows their blocks run alone and the chain takes
/// `column_alone`. `wide` is what a row costs that no longer fits the registers. Norms (H200,
/// triton-inductor and pytorch-eager, 2026-11-30: 3 to 9 %), softmax over wide rows, row sums.
[[nodiscard]] OpEstimate row_kernel(const OpContext& context, ir::Expr rows, ir::Expr columns);

/// Softmax: rows up to `narrow_columns` are held by a warp, T = start + (latency^4 + (warp_fill +
/// elements * narrow_element / SM)^4)^(1/4); wider ones as `row_kernel`.
[[nodiscard]] OpEstimate softmax_kernel(const OpContext& context);

/// A kernel of independent elements:
///
///   T = start + ((latency + page)^overlap + body^overlap)^(1/overlap), body = (traffic^4 +
///   issue^4)^(1/4)
///
/// issue = elements * element / SM cycles; `page` where the output exceeds `page_from` (buffers in
/// large pages: a first touch out of the small ones' reach); overlap 1 hides nothing. Above
/// `bulk_from` the device's copy engine path reaches `bulk` of the bandwidth.
[[nodiscard]] OpEstimate stream_kernel(const OpContext& context, ir::Expr elements);

/// Sums of rows, as PyTorch's reduction shapes its blocks of 512 threads: `height` rows a block,
/// the greatest power of two up to 16 and the rows; min(cols / 4 to a power of two, 512 / height)
/// threads a row, or all 512 where a thread would add min(16 height, 256) values or more:
///
///   T = start + value * cols / threads + max(traffic, (rows * row + elements * element or
///   block_element) / SM)
///
/// Source: 24 rows on an H200 (PyTorch 2.11, Reduce.cuh), 2026-11-30: 5 %.
[[nodiscard]] OpEstimate row_sum_kernel(const OpContext& context, ir::Expr rows, ir::Expr columns);

/// A sum over rows of each column: blocks span columns, so bandwidth grows with them (`column_rate`
/// per 1024 columns); `split` where 32 rows and more are split over warps, `stages` from 256 on
/// over blocks.
[[nodiscard]] OpEstimate column_sum_kernel(const OpContext& context);

/// A sum to one value: until the array is split over blocks one block walks it, at most
/// `serial_most` long.
[[nodiscard]] OpEstimate total_sum_kernel(const OpContext& context);

/// Rows gathered from a table: T = start + ((latency + few rows * row)^3 + (bytes / gather
/// rate)^3)^(1/3); up to 16 rows one kernel takes row after row.
[[nodiscard]] OpEstimate gather_kernel(const OpContext& context);

}  // namespace mansard::model::estimators
