#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/passes/passes.hpp"
#include "ir/passes/rewrite.hpp"

namespace mansard::ir {
namespace {

bool is_router(const Graph& graph, const Op& op) {
  const std::optional<TensorId> logits = operand_of(op, "c");
  return std::ranges::any_of(graph.ops(), [&](const Op& reader) {
    return is_kind(reader, "moe_router") && operand_of(reader, "logits") == logits;
  });
}

bool is_embedding_table(const Graph& graph, TensorId weight) {
  return std::ranges::any_of(graph.ops(), [&](const Op& op) {
    return is_kind(op, "embedding") && operand_of(op, "table") == weight;
  });
}

/// The blocks of a model's ends, where embedding and head are.
std::vector<bool> end_blocks(const Graph& graph) {
  std::vector<bool> ends(graph.blocks().size());
  for (const Op& op : graph.ops()) {
    if (is_kind(op, "embedding") || op.split == Split::kVocabulary) {
      ends[index(op.block)] = true;
    }
  }
  // A graph that is one block has its layers there too.
  return graph.blocks().size() > 1 ? ends : std::vector<bool>(graph.blocks().size());
}

/// What a matmul or a convolution multiplies its weight with.
std::string_view input_name(const Op& op) {
  return is_kind(op, "convolution") ? "x" : "a";
}

/// A matmul with a weight, but no router and no head; or a convolution of a network from a file
/// (those of state-space layers stay as they are).
bool is_layer_matmul(const Graph& graph, const Op& op) {
  if (is_kind(op, "grouped_matmul")) {
    return true;
  }
  if (is_kind(op, "convolution")) {
    return graph.facts.file && graph.tensor(tensor_of(op, "w")).role == Role::kWeight;
  }
  if (!is_kind(op, "matmul") || op.split == Split::kVocabulary || is_router(graph, op)) {
    return false;
  }
  const TensorId weight = tensor_of(op, "w");
  return graph.tensor(weight).role == Role::kWeight && !is_embedding_table(graph, weight);
}

/// The matmuls that a checkpoint quantises: those of layers.
std::vector<bool> layer_matmuls(const Graph& graph) {
  const std::vector<bool> ends = end_blocks(graph);
  std::vector<bool> result;
  for (const Op& op : graph.ops()) {
    result.push_back(!ends[index(op.block)] && is_layer_matmul(graph, op));
  }
  return result;
}

void set_weights(Graph& graph, const std::vector<bool>& matmuls, const Dtype& dtype) {
  for (std::size_t i = 0; i < matmuls.size(); ++i) {
    if (matmuls[i]) {
      graph.tensor(tensor_of(graph.ops()[i], "w")).dtype = &dtype;
    }
  }
}

void set_caches(Graph& graph, const Dtype& dtype) {
  for (Tensor& tensor : graph.tensors()) {
    if (tensor.role == Role::kKvCache) {
      tensor.dtype = &dtype;
    }
  }
}

/// Activations that matmuls read become narrow where they are made if only those matmuls read them;
/// otherwise an op of its own makes a narrow copy.
class ActivationFormat {
 public:
  ActivationFormat(Graph& graph, const std::vector<bool>& matmuls, const Dtype& dtype)
      : graph_(graph), matmuls_(matmuls), dtype_(dtype), copies_(graph.tensors().size()) {}

  void run() {
    std::vector<Op> ops;
    for (std::size_t i = 0; i < matmuls_.size(); ++i) {
      Op op = graph_.ops()[i];
      if (matmuls_[i]) {
        narrow_input(op, ops);
      }
      forget_copies(op);
      ops.push_back(std::move(op));
    }
    graph_.ops() = std::move(ops);
  }

 private:
  void narrow_input(Op& matmul, std::vector<Op>& ops) {
    const TensorId input = tensor_of(matmul, input_name(matmul));
    if (graph_.tensor(input).role != Role::kActivation) {
      return;
    }
    if (only_matmuls_read(input)) {
      graph_.tensor(input).dtype = &dtype_;
      return;
    }
    if (!copies_[index(input)]) {
      copies_[index(input)] = quantize(matmul, input, ops);
    }
    set_operand(matmul, input_name(matmul), copies_[index(input)]);
  }

  [[nodiscard]] bool only_matmuls_read(TensorId tensor) const {
    for (std::size_t i = 0; i < matmuls_.size(); ++i) {
      const Op& op = graph_.ops()[i];
      if (reads(op, tensor) && !(matmuls_[i] && operand_of(op, input_name(op)) == tensor)) {
        return false;
      }
    }
    return true;
  }

  TensorId quantize(const Op& matmul, TensorId input, std::vector<Op>& ops) {
    const Expr elements = graph_.elements(graph_.tensor(input));
    Tensor narrow = graph_.tensor(input);
    narrow.name = matmul.name + ".quantized";
    narrow.dtype = &dtype_;
    narrow.block = matmul.block;
    const TensorId output = graph_.add_tensor(std::move(narrow));
    const OpDef* def = find_op("elementwise");
    ops.push_back({.name = matmul.name + ".quantize",
                   .def = def,
                   .block = matmul.block,
                   .dims = {{"n", elements}, {"i", elements}, {"a", graph_.pool().constant(1)}},
                   .operands = operands_by_name(*def, {{"x", input}, {"o", output}}),
                   .attributes = {{"function", "quantize"}},
                   .split = split_of_writer(input, ops)});
    return output;
  }

  /// The copy is split as what it copies.
  [[nodiscard]] static Split split_of_writer(TensorId tensor, const std::vector<Op>& ops) {
    for (std::size_t i = ops.size(); i-- > 0;) {
      if (writes(ops[i], tensor)) {
        const bool divides = ops[i].split == Split::kHeads || ops[i].split == Split::kColumn;
        return divides ? ops[i].split : Split::kReplicated;
      }
    }
    return Split::kReplicated;
  }

  void forget_copies(const Op& op) {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      if (copies_[i] && writes(op, static_cast<TensorId>(i))) {
        copies_[i] = std::nullopt;
      }
    }
  }

  Graph& graph_;
  const std::vector<bool>& matmuls_;
  const Dtype& dtype_;
  std::vector<std::optional<TensorId>> copies_;
};

}  // namespace

Result<Graph> set_formats(Graph graph, const Formats& formats) {
  if (formats.activations != nullptr && formats.activations->arithmetic.empty()) {
    return failure("activation-format",
                   fmt::format("{} is a weight-only format, activations cannot be in it",
                               formats.activations->name));
  }
  const std::vector<bool> matmuls = layer_matmuls(graph);
  if (formats.weights != nullptr) {
    set_weights(graph, matmuls, *formats.weights);
  }
  if (formats.kv != nullptr) {
    set_caches(graph, *formats.kv);
  }
  if (formats.activations != nullptr) {
    ActivationFormat(graph, matmuls, *formats.activations).run();
  }
  return graph;
}

}  // namespace mansard::ir
