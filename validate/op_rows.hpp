#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/expr_eval.hpp"
#include "ir/graph.hpp"
#include "ir/measurement.hpp"

/// The ops of a graph as rows of a measurement file without times: the other way of `cases.hpp`.
namespace mansard::validate {

/// What to measure for one op of a graph.
struct OpRow {
  std::string name;        ///< Of the op: "attention.qkv".
  std::int64_t count = 1;  ///< Executions in a step.
  ir::Measurement shape;   ///< op, types, phase and columns; no time.
  std::string difference;  ///< What the op does beyond its row, a sentence; "" for nothing.
};

/// One row an op, in the order of the graph. Ops that no measurement file knows keep their kind and
/// have no columns. `phase` is the workload's ("decode" or "prefill"). Experts are taken as evenly
/// used: rows of a grouped matmul go to one expert each.
[[nodiscard]] std::vector<OpRow> op_rows(const ir::Graph& graph, const ir::Bindings& workload,
                                         const std::string& phase);

/// The window of a causal sequence of `keys` whose query-key pairs number `pairs`: the last
/// `queries` tokens attend to at most that many keys each. 0 where none is needed, nullopt where no
/// window gives that number.
[[nodiscard]] std::optional<double> window_of(double queries, double keys, double pairs);

}  // namespace mansard::validate
