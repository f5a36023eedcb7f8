#pragma once

#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace mansard::ir {

/// Where fewer KV heads than ranks exist, each rank holds one KV head, and a projection of queries,
/// keys and values no longer divides evenly: of a h-head part a rank keeps h / tp, of a g-head part
/// one. This finds the ops that feed such attention and the widths that their dims become.
class ReplicatedHeads {
 public:
  ReplicatedHeads(const Graph& graph, double ranks);

  /// Whether the KV heads of an attention op are replicated over the ranks.
  [[nodiscard]] bool replicated(const Op& attention) const;

  /// The constant factor of a dim of op `op` on one rank, if the op feeds attention with replicated
  /// KV heads and `width` is a sum of parts of such heads.
  [[nodiscard]] std::optional<double> width_on_rank(OpId op, double width) const;

 private:
  void mark_feeders(const Op& attention, std::size_t position);

  const Graph& graph_;
  double ranks_;
  std::vector<const Op*> attention_of_;  ///< For each op, the attention that it feeds.
};

}  // namespace mansard::ir
