#pragma once

#include <string>

#include "ir/graph.hpp"
#include "support/document.hpp"
#include "support/result.hpp"

/// The text form of a graph (.ir.yaml), a line per tensor and op:
///
///     schema: mansard.graph/1
///     model: {name: tiny, layers: 2, hidden: 64, activations: bf16}
///     notes: []
///     blocks:
///       - {name: layer, count: 2}
///     tensors:
///       - {name: x, role: activation, dtype: bf16, shape: [batch * q_len, 64], block: layer}
///     ops:
///       - {name: up, kind: matmul, block: layer, split: column,
///          dims: {b: 1, k: 64, m: batch * q_len, n: 256}, operands: {a: x, w: up.weight, c: y}}
///
/// Tensors and blocks are referred to by name. What is left out has its default: `role:
/// activation`, `split: replicated`, no attributes, no buffer.
namespace mansard::ir {

/// `print(parse(print(g))) == print(g)`, and both graphs are equal part by part.
[[nodiscard]] std::string print(const Graph& graph);

/// Reads the text form. All errors of a file at once, each with its place: unknown kinds, dtypes,
/// dims and names with did-you-mean, and what `verify` finds.
[[nodiscard]] Result<Graph> parse_graph(const Node& document);

}  // namespace mansard::ir
