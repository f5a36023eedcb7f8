#include <utility>

#include <fmt/format.h>

#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"
#include "ir/passes/shard_tensor.hpp"

namespace mansard::ir {
namespace {

Diagnostics check(const Parallelism& p) {
  Diagnostics problems;
  const auto refuse = [&](std::string message) {
    problems.push_back(
        {.id = "parallelism", .message = std::move(message), .location = {}, .label = {}});
  };
  using Degree = std::pair<std::string_view, std::int64_t>;
  for (const auto& [name, degree] :
       {Degree{"tp", p.tp}, Degree{"ep", p.ep}, Degree{"dp", p.dp}, Degree{"cp", p.cp}}) {
    if (degree < 1) {
      refuse(fmt::format("{} is {}, expected at least 1", name, degree));
    }
  }
  if (problems.empty() && p.ep > 1 && (p.ep % p.tp != 0 || (p.tp * p.dp) % p.ep != 0)) {
    refuse(
        fmt::format("experts cannot be split over ep {} with tp {} and dp {}: expected ep to be a "
                    "multiple of tp and to divide tp x dp",
                    p.ep, p.tp, p.dp));
  }
  if (problems.empty() && p.sequence && p.tp == 1) {
    refuse("sequence parallelism needs tp of at least 2");
  }
  return problems;
}

}  // namespace

void split_batch(Graph& graph, std::int64_t dp) {
  const Expr batch = graph.pool().symbol("batch");
  substitute_symbol(graph, "batch", ceil_div(batch, static_cast<double>(dp)));
}

Result<Graph> shard(Graph graph, const Parallelism& parallelism) {
  Diagnostics problems = check(parallelism);
  if (!problems.empty()) {
    return failure(std::move(problems));
  }
  if (parallelism.dp > 1) {
    split_batch(graph, parallelism.dp);
  }
  if (parallelism.ep > 1) {
    problems = split_experts(graph, {.ep = parallelism.ep, .tp = parallelism.tp});
  }
  if (problems.empty() && parallelism.tp > 1) {
    problems = split_tensors(graph, parallelism.tp);
  }
  if (!problems.empty()) {
    return failure(std::move(problems));
  }
  if (parallelism.sequence) {
    scatter_tokens(graph, parallelism.tp);
  }
  if (parallelism.cp > 1) {
    split_context(graph, parallelism.cp);
  }
  return graph;
}

}  // namespace mansard::ir
