#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/graph.hpp"

/// Graph algorithms over the dependencies of ops (Boost.Graph behind one adaptor,
/// ir/algorithms.cpp).
namespace mansard::ir {

/// For each op, the ops that write a tensor it reads (last writer before it), each once, in order.
[[nodiscard]] std::vector<std::vector<OpId>> dependencies(const Graph& graph);

/// Ops in an order in which every op follows what it depends on; stable with respect to the order
/// of the graph.
[[nodiscard]] std::vector<OpId> topological_order(const Graph& graph);

/// Vertices 0, 1, ... in an order that keeps to all edges, each from what comes first to what
/// follows. nullopt: edges run in a circle.
using VertexEdge = std::pair<std::uint32_t, std::uint32_t>;
[[nodiscard]] std::optional<std::vector<std::uint32_t>> topological_order(
    std::size_t vertices, const std::vector<VertexEdge>& edges);

/// The heaviest chain of dependent ops and its weight, given a weight per op (not negative).
struct CriticalPath {
  std::vector<OpId> ops;
  double weight = 0;
};
[[nodiscard]] CriticalPath critical_path(const Graph& graph, const std::vector<double>& weights);

/// For each op, the activation tensors that must exist while it runs (written or graph input, and
/// read now or later): liveness, from which peak activation memory follows. What the last
/// repetition of a block leaves for the next one stays alive; so do the graph's outputs.
[[nodiscard]] std::vector<std::vector<TensorId>> live_activations(const Graph& graph);

}  // namespace mansard::ir
