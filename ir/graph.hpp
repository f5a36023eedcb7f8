#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/dtype.hpp"
#include "ir/expr.hpp"
#include "ir/op_def.hpp"

/// A model as a graph of ops over tensors, symbolic in the workload.
///
/// Workload symbols, plain numbers, the same in every graph that a language-model frontend makes:
///
///   batch     sequences of the step (global: data parallelism splits it)
///   q_len     new tokens of each sequence: 1 in decode, context in prefill
///   context   tokens that the last new token attends to, itself included
///
/// so that tokens = batch * q_len, and one graph serves decode, prefill, chunked prefill and
/// speculative verification. Language-model heads compute logits for `batch` tokens (the last of
/// each sequence).
namespace mansard::ir {

enum class TensorId : std::uint32_t {};
enum class OpId : std::uint32_t {};
enum class BlockId : std::uint32_t {};

template <typename Id>
[[nodiscard]] constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

/// Ops that repeat as a whole: the layers of one kind. A tensor of role weight, KV cache or state
/// that belongs to a block exists `count` times.
struct Block {
  std::string name;
  std::int64_t count = 1;
  Expr repeats;  ///< The count where it depends on the workload (a loop of a file); `count` is then
                 ///< 1 until it is bound. Absent: `count`.
};

/// A tensor. Ops refer to it; the graph holds it once, its block says how often it exists.
struct Tensor {
  std::string name;
  Role role = Role::kActivation;
  const Dtype* dtype = nullptr;
  std::vector<Expr> shape;  ///< Elements per dimension; symbolic in the workload.
  BlockId block{};
  bool buffer = false;  ///< Stored with the weights but not a parameter (a router's correction bias
                        ///< counts as one; rotary tables do not).
};

/// How tensor parallelism splits an op (Megatron's terms): over its output features, over its
/// reduced dimension (an all-reduce follows), over heads, over the vocabulary; or not at all
/// (replicated).
enum class Split : std::uint8_t { kReplicated, kColumn, kRow, kHeads, kVocabulary, kExperts };

/// An op of a graph: a kind, values for the kind's dimension symbols, and tensors for its operands.
struct Op {
  std::string name;  ///< Unique in the graph: "attention.qkv".
  const OpDef* def = nullptr;
  BlockId block{};
  std::map<std::string, Expr, std::less<>>
      dims;  ///< Dimension symbol of the kind -> expression over workload symbols.
  std::vector<std::optional<TensorId>>
      operands;  ///< In the order of `def->operands`; absent where optional.
  std::map<std::string, std::string, std::less<>>
      attributes;  ///< Facts that change no count: "function": "silu_mul", "norm": "rmsnorm".
  Split split = Split::kReplicated;
};

/// An operand that an op has: its definition and its tensor.
struct OperandUse {
  std::size_t position = 0;  ///< Among the operands of the kind.
  const OperandDef* def = nullptr;
  TensorId tensor{};

  [[nodiscard]] bool reads() const { return def->access != Access::kWrite; }
  [[nodiscard]] bool writes() const { return def->access != Access::kRead; }
};
/// The operands that `op` has, in order.
[[nodiscard]] std::vector<OperandUse> uses_of(const Op& op);

/// What the file of a graph holds, counted as its format counts.
struct FileFacts {
  std::string format;  ///< "ONNX IR 8".
  std::map<std::string, std::int64_t, std::less<>> opsets;
  std::int64_t nodes = 0;           ///< Of the main graph.
  std::int64_t subgraph_nodes = 0;  ///< Of bodies and branches, at any depth.
  std::int64_t initializers = 0;
  std::int64_t initializer_elements = 0;
  std::int64_t external_initializers = 0;  ///< Their data lie in other files, which are not read.
  std::map<std::string, std::int64_t, std::less<>> operators;  ///< Of the main graph, by name.
  std::vector<std::pair<std::string, std::string>> inputs;     ///< Name and shape: "1x3x224x224".
  std::vector<std::pair<std::string, std::string>> outputs;
  std::vector<std::string> unknown_operators;  ///< Counted as bytes only; totals are partial.
};

/// A dimension of a graph that is no workload symbol of ours: named in its file, or unknown until
/// it runs.
struct DimensionSymbol {
  std::string name;
  std::string meaning;  ///< "dimension 1 of input_ids", "how many elements of mask are not zero".
};

/// How the model is known, and the facts of it that are not in ops.
struct ModelFacts {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_context = 0;  ///< 0: not stated.
  const Dtype* activations = nullptr;
  std::vector<std::string> notes;  ///< What the importer assumed or left out, each a sentence.
  std::vector<DimensionSymbol> symbols;  ///< Beyond batch, q_len and context.
  std::optional<FileFacts> file;         ///< Of graphs that a file holds op by op.
};

class Graph {
 public:
  Graph() : pool_(std::make_shared<ExprPool>()) {}

  [[nodiscard]] ExprPool& pool() const { return *pool_; }
  ModelFacts facts;

  BlockId add_block(std::string name, std::int64_t count);
  TensorId add_tensor(Tensor tensor);
  /// Ops stand in the order in which they run.
  OpId add_op(Op op);

  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<Op>& ops() const { return ops_; }
  [[nodiscard]] std::vector<Block>& blocks() { return blocks_; }
  [[nodiscard]] std::vector<Tensor>& tensors() { return tensors_; }
  [[nodiscard]] std::vector<Op>& ops() { return ops_; }
  [[nodiscard]] const Block& block(BlockId id) const { return blocks_[index(id)]; }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_[index(id)]; }
  [[nodiscard]] Tensor& tensor(TensorId id) { return tensors_[index(id)]; }
  [[nodiscard]] const Op& op(OpId id) const { return ops_[index(id)]; }

  /// A dimension symbol's expression in `definitions()` turned into one of this graph's pool with
  /// `op`'s dims put in.
  [[nodiscard]] Expr instantiate(const Op& op, Expr of_definition) const;

  /// How often the ops of a block run in a step.
  [[nodiscard]] Expr repeats(BlockId block) const;

  /// Elements of a tensor: the product of its shape.
  [[nodiscard]] Expr elements(const Tensor& tensor) const;

 private:
  std::shared_ptr<ExprPool> pool_;
  std::vector<Block> blocks_;
  std::vector<Tensor> tensors_;
  std::vector<Op> ops_;
};

/// Parameters, as checkpoints and papers count them (exact; weights of role kWeight that are no
/// buffers, times their blocks). `active`: those that one token uses (top-k of the experts);
/// `active_without_embedding` excludes the input embedding unless it is also the head.
struct ParameterCounts {
  std::int64_t total = 0;
  std::int64_t active = 0;
  std::int64_t active_without_embedding = 0;
};
[[nodiscard]] ParameterCounts parameter_counts(const Graph& graph);

/// Bytes of all weights with their scales, buffers included.
[[nodiscard]] Expr weight_bytes(const Graph& graph);
/// Bytes of KV cache that one more token of context adds to one sequence, all layers (layers whose
/// window is full add nothing and are left out).
[[nodiscard]] Expr kv_bytes_per_token(const Graph& graph);
/// Bytes of KV cache and recurrent state of the whole batch at `context`.
[[nodiscard]] Expr kv_bytes(const Graph& graph);

}  // namespace mansard::ir
