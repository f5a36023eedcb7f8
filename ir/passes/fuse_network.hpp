#pragma once

#include <cstdint>

#include "ir/graph.hpp"

/// What compilers of networks fuse: passes for graphs that come op by op from a file.
namespace mansard::ir {

struct FusionCounts {
  std::int64_t chains = 0;      ///< Elementwise ops joined to the one before.
  std::int64_t epilogues = 0;   ///< Elementwise ops joined to a matmul or convolution.
  std::int64_t norms = 0;       ///< Batch norms folded into the weights of a convolution.
  std::int64_t attentions = 0;  ///< Scores, softmax and values made one attention.
};

/// Joins an elementwise op to the op that writes what it reads, where only it reads that, in the
/// same block: conv + bn + activation, matmul + bias + activation, chains. Batch norm after a
/// convolution becomes its bias (scale and statistics go into the weights when they are loaded,
/// which saves their arithmetic). Then QK^T, softmax, PV becomes an attention op that never writes
/// its scores; masks are taken as part of it. Keeps contraction FLOP; a note says what was fused
/// and what bytes that saves.
[[nodiscard]] Graph fuse_network(Graph graph, FusionCounts* counts = nullptr);

}  // namespace mansard::ir
