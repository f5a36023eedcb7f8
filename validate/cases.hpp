#pragma once

#include <string>
#include <string_view>

#include "ir/expr_eval.hpp"
#include "ir/graph.hpp"
#include "ir/measurement.hpp"
#include "support/result.hpp"

/// Measured ops as graphs. A case's workload symbols are the columns of the measurement file ("m",
/// "kv_len", "gpus"), so that one graph, built once, serves every row of its kind.
namespace mansard::validate {

/// How a kind of row becomes a graph. `cases.def` lists them.
struct Case {
  std::string_view op;  ///< The `op` column.
  ir::Graph (*graph)(const ir::Measurement& row);
};

/// The case of an op column; nullptr for ops that the model does not know.
[[nodiscard]] const Case* find_case(std::string_view op);

/// What of a row selects its graph; rows of one key differ in numbers only.
[[nodiscard]] std::string case_key(const ir::Measurement& row);

/// The row's columns as bindings, absent ones by their documented defaults (batch 1, window 0,
/// causal, gated, tp and ep 1).
[[nodiscard]] ir::Bindings bindings_of(const ir::Measurement& row);

}  // namespace mansard::validate
