#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "support/result.hpp"

/// The dimensions that a file names, given values.
namespace mansard::ir {

/// Values of symbols by name: numbers, or expressions over batch, q_len and context.
using SymbolValues = std::map<std::string, Expr, std::less<>>;

/// Every dim and shape with `values` (of the graph's pool) put in. Blocks whose repetitions become
/// a number get that count; ops of blocks that run 0 times go. Errors: extents that become negative
/// or no whole numbers, with the tensor.
[[nodiscard]] Result<Graph> bind_symbols(Graph graph, const SymbolValues& values);

/// What the names that exporters give dimensions mean in a step: batch_size is batch;
/// sequence_length, seq_len and the like are q_len where the graph has a past
/// (past_sequence_length: context - q_len), else context; total_sequence_length is context. Only
/// symbols of the graph that `values` leaves out.
[[nodiscard]] SymbolValues workload_meaning(const Graph& graph);

/// The symbols of `facts.symbols` that something of the graph still depends on.
[[nodiscard]] std::vector<DimensionSymbol> free_symbols(const Graph& graph);
/// Whether anything of the graph depends on that symbol.
[[nodiscard]] bool depends_on(const Graph& graph, std::string_view symbol);

}  // namespace mansard::ir
