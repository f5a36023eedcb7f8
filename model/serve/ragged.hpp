#pragma once

#include <vector>

#include "ir/graph.hpp"

/// Batches whose sequences differ in length.
namespace mansard::model::serve {

/// A graph in which whatever depends on a sequence's context is a symbol of its own, to be bound to
/// the mean over the sequences: keys read, pairs, ... So a batch costs what as many sequences of
/// its mean keys and mean pairs cost: its FLOP and bytes, which are sums over the sequences, are
/// exact, windows included.
struct RaggedGraph {
  ir::Graph graph;
  std::vector<ir::Expr> of_sequence;  ///< Over `q_len` and `context` of one sequence.
  std::vector<ir::Expr> means;        ///< The symbols that stand for their means, in order.
};

[[nodiscard]] RaggedGraph make_ragged(ir::Graph graph);

}  // namespace mansard::model::serve
