#include "model/project/match.hpp"

namespace mansard::model {
namespace {

/// Ops that a kernel may skip: those that ran fused into a neighbour.
constexpr std::size_t kLookahead = 4;
/// A hostile count of layers is not unrolled further.
constexpr std::size_t kMostExecutions = 1'000'000;

/// Every execution of every op in order: a block's ops repeat together.
std::vector<std::size_t> executions(const ir::Graph& graph) {
  std::vector<std::size_t> result;
  const auto& ops = graph.ops();
  for (std::size_t begin = 0; begin < ops.size();) {
    std::size_t end = begin;
    while (end < ops.size() && ops[end].block == ops[begin].block) {
      ++end;
    }
    const std::int64_t count = graph.block(ops[begin].block).count;
    for (std::int64_t i = 0; i < count && result.size() < kMostExecutions; ++i) {
      for (std::size_t op = begin; op < end; ++op) {
        result.push_back(op);
      }
    }
    begin = end;
  }
  return result;
}

}  // namespace

std::vector<std::optional<KernelOp>> match_kernels(const ir::Graph& graph,
                                                   const std::vector<ir::KernelClass>& kernels) {
  const std::vector<std::size_t> order = executions(graph);
  std::vector<std::optional<KernelOp>> result(kernels.size());
  if (order.empty()) {
    return result;
  }
  const auto kind = [&](std::size_t place) { return graph.ops()[order[place]].def->name; };
  std::optional<std::size_t> current;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const ir::KernelClass& kernel = kernels[i];
    if (kernel.kinds.empty()) {
      continue;
    }
    std::optional<std::size_t> next;
    for (std::size_t ahead = 1; ahead <= kLookahead && !next && !kernel.continues; ++ahead) {
      const std::size_t place = current ? *current + ahead : ahead - 1;
      if (kernel.is(kind(place % order.size()))) {
        next = place % order.size();
      }
    }
    if (next) {
      current = next;
      result[i] = KernelOp{order[*current], true};
    } else if (current && kernel.is(kind(*current))) {
      result[i] = KernelOp{order[*current], false};
    }
  }
  return result;
}

}  // namespace mansard::model
