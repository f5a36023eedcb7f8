#include <cmath>
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

/// Ops that follow the layers look at the last token of each sequence only; now at all new ones.
void extend_head(Graph& graph, Expr tokens_per_sequence) {
  const auto extend = [&](Expr& dimension) {
    if (depends_on(dimension, "batch") && !depends_on(dimension, "q_len")) {
      dimension = dimension * tokens_per_sequence;
    }
  };
  std::vector<bool> written(graph.tensors().size());
  for (std::size_t i = start_of_head(graph); i < graph.ops().size(); ++i) {
    Op& op = graph.ops()[i];
    for (auto& [name, dimension] : op.dims) {
      extend(dimension);
    }
    for (std::size_t operand = 0; operand < op.operands.size(); ++operand) {
      if (op.operands[operand] && op.def->operands[operand].access != Access::kRead) {
        written[index(*op.operands[operand])] = true;
      }
    }
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] && !graph.tensors()[i].shape.empty()) {
      extend(graph.tensors()[i].shape.front());
    }
  }
}

}  // namespace

double expected_tokens(const Speculation& speculation) {
  const double a = speculation.acceptance;
  const auto verified = static_cast<double>(speculation.draft + 1);
  return a == 1 ? verified : (1 - std::pow(a, verified)) / (1 - a);
}

Result<Graph> speculate(Graph graph, const Speculation& speculation) {
  if (speculation.draft < 0 || !(speculation.acceptance >= 0 && speculation.acceptance <= 1)) {
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
