#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"

namespace mansard::ir {
namespace {

/// The first op after the last one that looks back in time: from there on tokens are independent.
std::size_t start_of_head(const Graph& graph) {
  std::size_t start = 0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    for (const OperandDef& operand : graph.ops()[i].def->operands) {
      if (operand.role == Role::kKvCache || operand.role == Role::kState) {
        start = i + 1;
      }
    }
  }
  return start;
}

/// Rows of the last token of each sequence become rows of all its new tokens.
void extend(Expr& rows, Expr tokens_per_sequence) {
  if (depends_on(rows, "batch") && !depends_on(rows, "q_len")) {
    rows = rows * tokens_per_sequence;
  }
}

void extend_outputs(Graph& graph, std::size_t first_op, Expr tokens_per_sequence) {
  std::set<TensorId> written;
  for (std::size_t i = first_op; i < graph.ops().size(); ++i) {
    for (const OperandUse& use : uses_of(graph.ops()[i])) {
      if (use.writes() && !graph.tensor(use.tensor).shape.empty()) {
        written.insert(use.tensor);
      }
    }
  }
  for (const TensorId tensor : written) {
    extend(graph.tensor(tensor).shape.front(), tokens_per_sequence);
  }
}

/// Ops that follow the layers look at the last token of each sequence only; now at all new ones.
void extend_head(Graph& graph, Expr tokens_per_sequence) {
  const std::size_t start = start_of_head(graph);
  for (std::size_t i = start; i < graph.ops().size(); ++i) {
    for (auto& [name, dimension] : graph.ops()[i].dims) {
      extend(dimension, tokens_per_sequence);
    }
  }
  extend_outputs(graph, start, tokens_per_sequence);
}

}  // namespace

double expected_tokens(const Speculation& speculation) {
  const double a = speculation.acceptance;
  const auto verified = static_cast<double>(speculation.draft + 1);
  return a == 1 ? verified : (1 - std::pow(a, verified)) / (1 - a);
}

Result<Graph> speculate(Graph graph, const Speculation& speculation) {
  const bool is_rate = speculation.acceptance >= 0 && speculation.acceptance <= 1;
  if (speculation.draft < 0 || !is_rate) {
    return failure("speculation",
                   fmt::format("a draft of {} tokens accepted at a rate of {}, expected a draft of "
                               "at least 0 and a rate from 0 to 1",
                               speculation.draft, speculation.acceptance));
  }
  if (speculation.draft == 0) {
    return graph;
  }
  const Expr verified = graph.pool().constant(static_cast<double>(speculation.draft + 1));
  extend_head(graph, verified);
  substitute_symbol(graph, "q_len", verified);
  note(graph, fmt::format("speculative decoding: each step verifies {} drafted tokens and yields "
                          "{:.4g} expected; the draft model's own time is not included",
                          speculation.draft, expected_tokens(speculation)));
  return graph;
}

}  // namespace mansard::ir
