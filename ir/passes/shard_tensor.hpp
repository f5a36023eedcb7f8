#pragma once

#include <vector>

#include "ir/graph.hpp"
#include "ir/passes/shard_rules.hpp"
#include "support/diagnostic.hpp"

/// The steps of `shard`, in the order in which they run.
namespace mansard::ir {

/// Data parallelism: a replica has its share of the batch.
void split_batch(Graph& graph, std::int64_t dp);

/// Expert parallelism: `ep` ranks, drawn from the `tp` ranks of each of several replicas, hold the
/// experts; rows go to them and come back by all-to-all.
struct ExpertRanks {
  std::int64_t ep = 1;
  std::int64_t tp = 1;
};
[[nodiscard]] Diagnostics split_experts(Graph& graph, const ExpertRanks& ranks);

/// Tensor parallelism: dims by the table, shapes after them, then the collectives.
[[nodiscard]] Diagnostics split_tensors(Graph& graph, std::int64_t tp);

/// What `split_tensors` did to the dims of each op.
struct DimChange {
  std::string_view name;
  Expr before;
  Expr after;
};
struct OpChange {
  const SplitRule* rule = nullptr;
  std::vector<DimChange> dims;
};
/// Divides the dims of all ops; what cannot divide is refused.
[[nodiscard]] std::vector<OpChange> divide_dims(Graph& graph, std::int64_t tp,
                                                Diagnostics& problems);
/// Divides the shapes of tensors as the ops that use them were divided.
void divide_shapes(Graph& graph, const std::vector<OpChange>& changes);
/// Inserts the all-reduces and all-gathers that complete partial results.
void complete_results(Graph& graph, const std::vector<OpChange>& changes, std::int64_t tp);

/// Sequence parallelism: norms and what stands between matmuls work on their share of the tokens.
void scatter_tokens(Graph& graph, std::int64_t tp);

/// Context parallelism: a rank holds its share of the keys.
void split_context(Graph& graph, std::int64_t cp);

}  // namespace mansard::ir
