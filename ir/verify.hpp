#pragma once

#include <vector>

#include "ir/graph.hpp"
#include "support/diagnostic.hpp"

namespace mansard::ir {

/// Where the parts of a graph stand in the file they were read from; empty if they come from none.
struct GraphLocations {
  std::vector<Location> blocks;
  std::vector<Location> tensors;
  std::vector<Location> ops;
};

/// What is wrong with a graph, empty if nothing: names not unique, ids out of range, dims unbound
/// or unknown to the kind, operands missing, roles that contradict the definition, symbols outside
/// the workload, a tensor read before any op writes it, negative counts, weights smaller than what
/// an op reads of them.
[[nodiscard]] Diagnostics verify(const Graph& graph, const GraphLocations& locations = {});

}  // namespace mansard::ir
