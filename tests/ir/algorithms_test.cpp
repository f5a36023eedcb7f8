#include "ir/algorithms.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

std::size_t position(const Graph& graph, std::string_view name) {
  return static_cast<std::size_t>(&op_named(graph, name) - graph.ops().data());
}

std::vector<std::string> names(const Graph& graph, const std::vector<OpId>& ops) {
  std::vector<std::string> result;
  result.reserve(ops.size());
  for (const OpId op : ops) {
    result.push_back(graph.op(op).name);
  }
  return result;
}

std::vector<std::string> alive_at(const Graph& graph, std::string_view op) {
  std::vector<std::string> result;
  const auto alive = live_activations(graph);
  for (const TensorId tensor : alive[position(graph, op)]) {
    result.push_back(graph.tensor(tensor).name);
  }
  std::ranges::sort(result);
  return result;
}

using Names = std::vector<std::string>;

/// Elementwise ops, each "output <- input [second input]".
struct Step {
  const char* output;
  const char* x;
  const char* y = nullptr;
};

Graph chain(std::initializer_list<Step> steps) {
  Graph graph;
  graph.add_block("model", 1);
  std::map<std::string, TensorId> ids;
  const auto id = [&](const std::string& name) {
    const auto found = ids.find(name);
    if (found != ids.end()) {
      return found->second;
    }
    const TensorId made = graph.add_tensor({.name = name, .dtype = find_dtype("bf16")});
    ids.emplace(name, made);
    return made;
  };
  for (const Step& step : steps) {
    Op op{.name = std::string("make ") + step.output,
          .def = find_op("elementwise"),
          .operands = {id(step.x), id(step.output), std::nullopt}};
    if (step.y != nullptr) {
      op.operands[2] = id(step.y);
    }
    graph.add_op(std::move(op));
  }
  return graph;
}

}  // namespace

TEST_CASE("an op depends on the last writers of what it reads", "[ir][algorithms]") {
  const Graph graph =
      chain({{"a", "in"}, {"b", "in"}, {"c", "a", "b"}, {"a", "c"}, {"d", "a", "b"}});
  const auto needed = dependencies(graph);
  CHECK(needed[0].empty());
  CHECK(names(graph, needed[2]) == Names{"make a", "make b"});
  CHECK(needed[4] == std::vector{static_cast<OpId>(1), static_cast<OpId>(3)});
}

TEST_CASE("the order of a graph is already topological and stays", "[ir][algorithms]") {
  const Graph graph = llama({.experts = 8, .top_k = 2});
  const std::vector<OpId> order = topological_order(graph);
  REQUIRE(order.size() == graph.ops().size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    CHECK(index(order[i]) == i);
  }
}

TEST_CASE("the critical path is the heaviest chain", "[ir][algorithms]") {
  const Graph graph = chain({{"a", "in"}, {"b", "in"}, {"c", "a"}, {"d", "b"}, {"e", "c", "d"}});
  const CriticalPath path = critical_path(graph, {1, 2, 5, 3, 1});
  CHECK(path.weight == 7);
  CHECK(names(graph, path.ops) == Names{"make a", "make c", "make e"});
}

TEST_CASE("a chain of dependent ops is its own critical path", "[ir][algorithms]") {
  const Graph graph = llama({});
  const std::vector<double> weights(graph.ops().size(), 1);
  const CriticalPath path = critical_path(graph, weights);
  CHECK(path.weight == static_cast<double>(graph.ops().size()));
}

TEST_CASE("an empty graph has an empty critical path", "[ir][algorithms]") {
  CHECK(critical_path(Graph(), {}).ops.empty());
}

TEST_CASE("a tensor lives from its writer to its last reader", "[ir][algorithms]") {
  const Graph graph = chain({{"a", "in"}, {"b", "a"}, {"c", "b"}, {"d", "c", "a"}});
  CHECK(alive_at(graph, "make a") == Names{"a", "in"});
  CHECK(alive_at(graph, "make b") == Names{"a", "b"});
  CHECK(alive_at(graph, "make c") == Names{"a", "b", "c"});
  CHECK(alive_at(graph, "make d") == Names{"a", "c", "d"});
}

TEST_CASE("a tensor that is written again does not live in between", "[ir][algorithms]") {
  const Graph graph = chain({{"a", "in"}, {"b", "a"}, {"c", "b"}, {"a", "c"}, {"d", "a"}});
  CHECK(alive_at(graph, "make c") == Names{"b", "c"});
}

TEST_CASE("the residual stream lives through a layer, its branches do not", "[ir][algorithms]") {
  const Graph graph = llama({});
  CHECK(alive_at(graph, "gate_up") == Names{"gate_up.out", "mlp_norm.out", "residual"});
  CHECK(alive_at(graph, "down") == Names{"activation.out", "residual", "stream"});
  CHECK(alive_at(graph, "input_norm") == Names{"input_norm.out", "residual", "stream"});
}

TEST_CASE("outputs live to the end", "[ir][algorithms]") {
  const Graph graph = chain({{"out", "in"}, {"a", "in"}, {"b", "a"}});
  CHECK(alive_at(graph, "make b") == Names{"a", "b", "out"});
}

}  // namespace mansard::ir
