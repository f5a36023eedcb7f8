#include "tests/ir/graph_fixture.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "ir/attention_pairs.hpp"
#include "ir/passes/rewrite.hpp"
#include "support/diagnostic.hpp"

namespace mansard::ir {
namespace {

using Dims = std::map<std::string, Expr, std::less<>>;
using Operands = std::vector<std::pair<std::string_view, std::optional<TensorId>>>;

class LlamaBuilder {
 public:
  explicit LlamaBuilder(const LlamaShape& shape) : s_(shape) {
    batch_ = graph_.pool().symbol("batch");
    q_len_ = graph_.pool().symbol("q_len");
    context_ = graph_.pool().symbol("context");
    tokens_ = batch_ * q_len_;
  }

  Graph build() && {
    graph_.facts.name = "llama";
    graph_.facts.layers = s_.layers;
    graph_.facts.hidden = s_.hidden;
    graph_.facts.heads = s_.heads;
    graph_.facts.kv_heads = s_.kv_heads;
    graph_.facts.vocabulary = s_.vocabulary;
    graph_.facts.activations = find_dtype("bf16");
    block_ = graph_.add_block("model", 1);
    stream_ = activation("stream", {tokens_, number(s_.hidden)});
    residual_ = activation("residual", {tokens_, number(s_.hidden)});
    const TensorId table = weight("embedding.weight", {s_.vocabulary, s_.hidden});
    op("embedding", "embedding", Split::kVocabulary,
       {{"t", tokens_}, {"c", number(s_.hidden)}, {"n", number(s_.vocabulary)}},
       {{"table", table}, {"o", stream_}});
    block_ = graph_.add_block("layer", s_.layers);
    attention();
    s_.experts > 0 ? experts() : feed_forward();
    block_ = graph_.add_block("head", 1);
    head(table);
    return std::move(graph_);
  }

 private:
  [[nodiscard]] Expr number(std::int64_t value) const {
    return graph_.pool().constant(static_cast<double>(value));
  }

  TensorId tensor(const std::string& name, Role role, std::vector<Expr> shape) {
    return graph_.add_tensor({.name = name,
                              .role = role,
                              .dtype = find_dtype("bf16"),
                              .shape = std::move(shape),
                              .block = block_});
  }

  TensorId activation(const std::string& name, std::vector<Expr> shape) {
    return tensor(name, Role::kActivation, std::move(shape));
  }

  TensorId weight(const std::string& name, const std::vector<std::int64_t>& shape) {
    std::vector<Expr> extents;
    extents.reserve(shape.size());
    for (const std::int64_t extent : shape) {
      extents.push_back(number(extent));
    }
    return tensor(name, Role::kWeight, std::move(extents));
  }

  void op(std::string_view kind, const std::string& name, Split split, Dims dims,
          const Operands& operands) {
    const OpDef* def = find_op(kind);
    graph_.add_op({.name = name,
                   .def = def,
                   .block = block_,
                   .dims = std::move(dims),
                   .operands = operands_by_name(*def, operands),
                   .split = split});
  }

  struct Matmul {
    std::int64_t in = 0;
    std::int64_t out = 0;
    Split split = Split::kColumn;
  };

  void matmul_into(const std::string& name, TensorId input, const Matmul& m, TensorId output) {
    op("matmul", name, m.split,
       {{"b", number(1)}, {"m", tokens_}, {"n", number(m.out)}, {"k", number(m.in)}},
       {{"a", input}, {"w", weight(name + ".weight", {m.in, m.out})}, {"c", output}});
  }

  TensorId matmul(const std::string& name, TensorId input, const Matmul& m) {
    const TensorId output = activation(name + ".out", {tokens_, number(m.out)});
    matmul_into(name, input, m, output);
    return output;
  }

  TensorId norm(const std::string& name) {
    const TensorId output = activation(name + ".out", {tokens_, number(s_.hidden)});
    op("norm", name, Split::kReplicated,
       {{"r", tokens_},
        {"c", number(s_.hidden)},
        {"a", number(3)},
        {"residual", number(1)},
        {"w", number(1)}},
       {{"x", stream_},
        {"o", output},
        {"gain", weight(name + ".gain", {s_.hidden})},
        {"residual", residual_}});
    return output;
  }

  void attention() {
    const std::int64_t heads = s_.heads;
    const std::int64_t groups = s_.kv_heads;
    const TensorId qkv =
        matmul("qkv", norm("input_norm"), {s_.hidden, (heads + 2 * groups) * s_.head_dim});
    op("rope", "rope", Split::kHeads,
       {{"t", tokens_}, {"r", tokens_ * number(heads + groups)}, {"d", number(s_.head_dim)}},
       {{"x", qkv}});
    const Expr kept = s_.window > 0 ? min(context_, static_cast<double>(s_.window)) : context_;
    const TensorId cache =
        tensor("kv_cache", Role::kKvCache, {batch_, number(groups), kept, number(2 * s_.head_dim)});
    op("kv_write", "kv_write", Split::kHeads, {{"n", tokens_ * number(2 * groups * s_.head_dim)}},
       {{"x", qkv}, {"cache", cache}});
    const AttentionPairs pairs = s_.window > 0 ? windowed_pairs(context_, q_len_, s_.window)
                                               : causal_pairs(context_, q_len_);
    const TensorId mixed = activation("attention.out", {tokens_, number(heads * s_.head_dim)});
    op("attention", "attention", Split::kHeads,
       {{"b", batch_},
        {"h", number(heads)},
        {"g", number(groups)},
        {"q", q_len_},
        {"t", pairs.keys_read},
        {"p", pairs.pairs},
        {"d", number(s_.head_dim)},
        {"v", number(s_.head_dim)}},
       {{"q", qkv}, {"k", cache}, {"v", cache}, {"o", mixed}});
    matmul_into("output", mixed, {heads * s_.head_dim, s_.hidden, Split::kRow}, stream_);
  }

  TensorId activate(const std::string& name, TensorId input, Expr rows, Split split) {
    const Expr elements = rows * number(s_.ffn);
    const TensorId output = activation(name + ".out", {rows, number(s_.ffn)});
    op("elementwise", name, split,
       {{"n", elements}, {"i", 2 * elements}, {"a", number(4)}, {"s", number(1)}},
       {{"x", input}, {"o", output}});
    graph_.ops().back().attributes.emplace("function", "silu");
    return output;
  }

  void feed_forward() {
    const TensorId wide = matmul("gate_up", norm("mlp_norm"), {s_.hidden, 2 * s_.ffn});
    matmul_into("down", activate("activation", wide, tokens_, Split::kColumn),
                {s_.ffn, s_.hidden, Split::kRow}, stream_);
  }

  TensorId grouped(const std::string& name, TensorId input, const Matmul& m) {
    const Expr rows = tokens_ * number(s_.top_k);
    const double missed = 1 - static_cast<double>(s_.top_k) / static_cast<double>(s_.experts);
    const TensorId output = activation(name + ".out", {rows, number(m.out)});
    op("grouped_matmul", name, Split::kExperts,
       {{"m", rows},
        {"n", number(m.out)},
        {"k", number(m.in)},
        {"e", number(s_.experts)},
        {"u", number(s_.experts) * (1 - pow(graph_.pool().constant(missed), tokens_))},
        {"l", number(s_.top_k)}},
       {{"a", input}, {"w", weight(name + ".weight", {s_.experts, m.in, m.out})}, {"c", output}});
    return output;
  }

  void experts() {
    const TensorId input = norm("mlp_norm");
    const TensorId logits = matmul("router", input, {s_.hidden, s_.experts, Split::kReplicated});
    op("moe_router", "top_k", Split::kReplicated,
       {{"t", tokens_}, {"e", number(s_.experts)}, {"k", number(s_.top_k)}},
       {{"logits", logits}, {"routes", activation("routes", {tokens_, number(2 * s_.top_k)})}});
    const TensorId wide = grouped("experts.gate_up", input, {s_.hidden, 2 * s_.ffn});
    const TensorId active =
        activate("experts.activation", wide, tokens_ * number(s_.top_k), Split::kColumn);
    const TensorId routed = grouped("experts.down", active, {s_.ffn, s_.hidden});
    const Expr elements = tokens_ * number(s_.hidden);
    op("elementwise", "combine", Split::kReplicated,
       {{"n", elements}, {"i", elements * number(s_.top_k)}, {"a", number(2 * s_.top_k - 1)}},
       {{"x", routed}, {"o", stream_}});
    graph_.ops().back().attributes.emplace("function", "weighted_sum");
  }

  void head(TensorId table) {
    const TensorId input = norm("final_norm");
    const TensorId logits = activation("logits", {batch_, number(s_.vocabulary)});
    const TensorId projection = s_.tied ? table : weight("head.weight", {s_.hidden, s_.vocabulary});
    op("matmul", "head", Split::kVocabulary,
       {{"b", number(1)}, {"m", batch_}, {"n", number(s_.vocabulary)}, {"k", number(s_.hidden)}},
       {{"a", input}, {"w", projection}, {"c", logits}});
    op("sample", "sample", Split::kReplicated, {{"b", batch_}, {"n", number(s_.vocabulary)}},
       {{"logits", logits}, {"tokens", activation("tokens", {batch_})}});
  }

  LlamaShape s_;
  Graph graph_;
  Expr batch_;
  Expr q_len_;
  Expr context_;
  Expr tokens_;
  BlockId block_{};
  TensorId stream_{};
  TensorId residual_{};
};

/// An op of a kind on its own, its dims bound to numbers.
Op bound(const Graph& graph, std::string_view kind, DimValues dims) {
  Op op{.name = "op", .def = find_op(kind)};
  for (const auto& [name, number] : dims) {
    op.dims.emplace(name, graph.pool().constant(number));
  }
  return op;
}

template <typename Elements>
const auto& named(const Elements& elements, std::string_view name) {
  for (const auto& element : elements) {
    if (element.name == name) {
      return element;
    }
  }
  throw std::out_of_range("no such element: " + std::string(name));
}

}  // namespace

Graph llama(const LlamaShape& shape) {
  return LlamaBuilder(shape).build();
}

Bindings decode(std::int64_t batch, std::int64_t context) {
  return {{"batch", static_cast<double>(batch)},
          {"q_len", 1},
          {"context", static_cast<double>(context)}};
}

Bindings prefill(std::int64_t batch, std::int64_t context) {
  return {{"batch", static_cast<double>(batch)},
          {"q_len", static_cast<double>(context)},
          {"context", static_cast<double>(context)}};
}

std::string exact(Expr expression, const Bindings& bindings) {
  const Result<Count> counted = count(expression, bindings);
  return counted ? to_string(*counted) : render(counted.error());
}

std::string count_of(std::string_view kind, Expr OpDef::* counted, DimValues dims) {
  const Graph graph;
  const Op op = bound(graph, kind, dims);
  return exact(graph.instantiate(op, op.def->*counted));
}

std::string touched_of(std::string_view kind, std::string_view operand, DimValues dims) {
  const Graph graph;
  const Op op = bound(graph, kind, dims);
  return exact(graph.instantiate(op, named(op.def->operands, operand).touched));
}

const Op& op_named(const Graph& graph, std::string_view name) {
  return named(graph.ops(), name);
}

const Tensor& tensor_named(const Graph& graph, std::string_view name) {
  return named(graph.tensors(), name);
}

int number_of(const Graph& graph, std::string_view kind) {
  return static_cast<int>(
      std::ranges::count_if(graph.ops(), [&](const Op& op) { return op.def->name == kind; }));
}

}  // namespace mansard::ir
