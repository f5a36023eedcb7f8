#include <utility>

#include <fmt/format.h>

#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"

namespace mansard::ir {
namespace {

/// The router whose choice an expert matmul follows: the last one before it.
const Op* router_before(const Graph& graph, const Op& experts) {
  const Op* router = nullptr;
  for (const Op& op : graph.ops()) {
    if (&op == &experts) {
      break;
    }
    router = is_kind(op, "moe_router") && op.block == experts.block ? &op : router;
  }
  return router;
}

Result<Expr> touched_experts(const Graph& graph, const Op& experts, const Routing& routing) {
  const Expr held = dim_of(graph, experts, "e");
  if (routing.touched) {
    if (*routing.touched < 1 || static_cast<double>(*routing.touched) > coefficient(held)) {
      return failure("experts-touched",
                     fmt::format("'{}' cannot touch {} experts, expected 1 to {}", experts.name,
                                 *routing.touched, coefficient(held)));
    }
    return graph.pool().constant(static_cast<double>(*routing.touched));
  }
  const Op* router = router_before(graph, experts);
  if (router == nullptr) {
    return dim_of(graph, experts, "u");
  }
  const Expr all = dim_of(graph, *router, "e");
  const Expr chosen = dim_of(graph, *router, "k");
  if (!all.is_constant() || !chosen.is_constant()) {
    return dim_of(graph, experts, "u");
  }
  return expected_experts(held, all, chosen, dim_of(graph, *router, "t"));
}

}  // namespace

Expr expected_experts(Expr held, Expr all, Expr chosen, Expr tokens) {
  const double missed = 1 - chosen.constant() / all.constant();
  if (missed <= 0) {
    return held;
  }
  return held * (1 - pow(held.pool().constant(missed), tokens));
}

Result<Graph> route(Graph graph, const Routing& routing) {
  Diagnostics problems;
  for (Op& op : graph.ops()) {
    if (!is_kind(op, "grouped_matmul")) {
      continue;
    }
    if (const Result<Expr> touched = touched_experts(graph, op, routing)) {
      op.dims.insert_or_assign("u", *touched);
    } else {
      problems.insert(problems.end(), touched.error().begin(), touched.error().end());
    }
  }
  if (!problems.empty()) {
    return failure(std::move(problems));
  }
  return graph;
}

}  // namespace mansard::ir
