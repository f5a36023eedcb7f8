#pragma once

#include "ir/graph.hpp"

namespace mansard::ir {

/// Sums over the ops of a graph, each times the count of its block; exact under `count` where no
/// operand's `touched` is an expectation.
struct GraphTotals {
  Expr flops;          ///< Contractions; FLOP.
  Expr vector_flops;   ///< Elementwise arithmetic; FLOP.
  Expr special_ops;    ///< exp, rsqrt...; a plain number.
  Expr bytes;          ///< Operand footprints, moved once; byte.
  Expr weight_bytes;   ///< The part of `bytes` that is weights.
  Expr link_elements;  ///< What a device sends to its peers; a plain number.
};
[[nodiscard]] GraphTotals totals(const Graph& graph);

/// Bytes that an op moves for one operand (twice where it reads and writes); 0 where it is absent.
[[nodiscard]] Expr operand_bytes(const Graph& graph, const Op& op, std::size_t operand);

}  // namespace mansard::ir
