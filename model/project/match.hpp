#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ir/graph.hpp"
#include "ir/kernel_class.hpp"

namespace mansard::model {

/// The op of a graph that a kernel belongs to.
struct KernelOp {
  std::size_t op = 0;  ///< In the order of the graph.
  bool first = false;  ///< The first kernel of this execution of it: it carries the op's work.
};

/// Matches kernels, in the order in which they ran, to the ops of a graph in the order of theirs,
/// block by block as often as each repeats, and from the start again after the last: the alignment
/// of both that leaves out least, contractions weighing most. A kernel is matched only to ops of a
/// kind that its name allows; several may belong to one op.
[[nodiscard]] std::vector<std::optional<KernelOp>> match_kernels(
    const ir::Graph& graph, const std::vector<ir::KernelClass>& kernels);

}  // namespace mansard::model
