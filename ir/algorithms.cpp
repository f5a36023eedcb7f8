#include "ir/algorithms.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <optional>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/topological_sort.hpp>

namespace mansard::ir {
namespace {

/// The adaptor: a vertex per op, an edge from each op to every op it depends on.
using Adjacency = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

Adjacency adjacency(const std::vector<std::vector<OpId>>& dependencies) {
  Adjacency result(dependencies.size());
  for (std::size_t op = 0; op < dependencies.size(); ++op) {
    for (const OpId dependency : dependencies[op]) {
      boost::add_edge(op, index(dependency), result);
    }
  }
  return result;
}

/// The first of two where they weigh the same and neither is empty.
const CriticalPath& heavier(const CriticalPath& a, const CriticalPath& b) {
  return a.ops.empty() || b.weight > a.weight ? b : a;
}

}  // namespace

std::vector<std::vector<OpId>> dependencies(const Graph& graph) {
  std::vector<std::optional<OpId>> last_writer(graph.tensors().size());
  std::vector<std::vector<OpId>> result(graph.ops().size());
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    std::vector<OpId>& needed = result[i];
    for (const OperandUse& use : uses_of(op)) {
      const std::optional<OpId> writer = last_writer[index(use.tensor)];
      if (use.reads() && writer && std::ranges::count(needed, *writer) == 0) {
        needed.push_back(*writer);
      }
    }
    std::ranges::sort(needed);
    for (const OperandUse& use : uses_of(op)) {
      if (use.writes()) {
        last_writer[index(use.tensor)] = static_cast<OpId>(i);
      }
    }
  }
  return result;
}

std::vector<OpId> topological_order(const Graph& graph) {
  const Adjacency edges = adjacency(dependencies(graph));
  std::vector<std::size_t> order;
  order.reserve(graph.ops().size());
  // Edges lead to what must come first, so that the order in which vertices finish is one in which
  // they can run.
  boost::topological_sort(edges, std::back_inserter(order));
  std::vector<OpId> result;
  result.reserve(order.size());
  std::ranges::transform(order, std::back_inserter(result),
                         [](std::size_t op) { return static_cast<OpId>(op); });
  return result;
}

std::optional<std::vector<std::uint32_t>> topological_order(std::size_t vertices,
                                                            const std::vector<VertexEdge>& edges) {
  using Rows =
      boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                         boost::no_property, std::uint32_t, std::uint32_t>;
  // Reversed, as above.
  std::vector<VertexEdge> needs;
  needs.reserve(edges.size());
  for (const auto& [from, to] : edges) {
    needs.emplace_back(to, from);
  }
  const Rows rows(boost::edges_are_unsorted_multi_pass, needs.begin(), needs.end(),
                  static_cast<std::uint32_t>(vertices));
  std::vector<std::uint32_t> order;
  order.reserve(vertices);
  try {
    boost::topological_sort(rows, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    return std::nullopt;
  }
  return order;
}

CriticalPath critical_path(const Graph& graph, const std::vector<double>& weights) {
  assert(weights.size() == graph.ops().size());
  const std::vector<std::vector<OpId>> needed = dependencies(graph);
  std::vector<CriticalPath> paths(weights.size());
  CriticalPath heaviest;
  for (const OpId op : topological_order(graph)) {
    CriticalPath& path = paths[index(op)];
    for (const OpId dependency : needed[index(op)]) {
      path = heavier(path, paths[index(dependency)]);
    }
    path.ops.push_back(op);
    path.weight += weights[index(op)];
    heaviest = heavier(heaviest, path);
  }
  return heaviest;
}

namespace {

/// Which tensors are alive, walked backwards over the ops.
class Liveness {
 public:
  explicit Liveness(const Graph& graph)
      : graph_(graph), alive_(outputs(graph)), result_(graph.ops().size()) {}

  std::vector<std::vector<TensorId>> run() && {
    std::size_t end = graph_.ops().size();
    while (end > 0) {
      const std::size_t begin = start_of_run(end);
      if (repeats(begin)) {
        // What the next repetition reads is alive at the end of this one.
        const std::vector<bool> after = alive_;
        walk(begin, end);
        for (std::size_t tensor = 0; tensor < after.size(); ++tensor) {
          alive_[tensor] = alive_[tensor] || after[tensor];
        }
      }
      walk(begin, end);
      end = begin;
    }
    return std::move(result_);
  }

 private:
  static std::vector<bool> outputs(const Graph& graph) {
    std::vector<bool> written(graph.tensors().size());
    std::vector<bool> read(graph.tensors().size());
    for (const Op& op : graph.ops()) {
      for (const OperandUse& use : uses_of(op)) {
        written[index(use.tensor)] = written[index(use.tensor)] || use.writes();
        read[index(use.tensor)] = read[index(use.tensor)] || !use.writes();
      }
    }
    for (std::size_t tensor = 0; tensor < written.size(); ++tensor) {
      written[tensor] = written[tensor] && !read[tensor];
    }
    return written;
  }

  [[nodiscard]] bool repeats(std::size_t op) const {
    return graph_.block(graph_.ops()[op].block).count > 1;
  }

  /// The first of the ops of one block that stand together and end before `end`.
  [[nodiscard]] std::size_t start_of_run(std::size_t end) const {
    std::size_t begin = end - 1;
    while (begin > 0 && graph_.ops()[begin - 1].block == graph_.ops()[end - 1].block) {
      --begin;
    }
    return begin;
  }

  void walk(std::size_t begin, std::size_t end) {
    for (std::size_t i = end; i-- > begin;) {
      const Op& op = graph_.ops()[i];
      std::vector<bool> during = alive_;
      for (const OperandUse& use : uses_of(op)) {
        during[index(use.tensor)] = true;
        alive_[index(use.tensor)] = alive_[index(use.tensor)] && use.reads();
      }
      for (const OperandUse& use : uses_of(op)) {
        alive_[index(use.tensor)] = alive_[index(use.tensor)] || use.reads();
      }
      result_[i] = activations(during);
    }
  }

  [[nodiscard]] std::vector<TensorId> activations(const std::vector<bool>& chosen) const {
    std::vector<TensorId> result;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] && graph_.tensors()[i].role == Role::kActivation) {
        result.push_back(static_cast<TensorId>(i));
      }
    }
    return result;
  }

  const Graph& graph_;
  std::vector<bool> alive_;
  std::vector<std::vector<TensorId>> result_;
};

}  // namespace

std::vector<std::vector<TensorId>> live_activations(const Graph& graph) {
  return Liveness(graph).run();
}

}  // namespace mansard::ir
