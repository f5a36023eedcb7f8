#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/frontend.hpp"
#include "frontend/hf/architecture.hpp"
#include "ir/attention_pairs.hpp"
#include "ir/graph.hpp"

namespace mansard::frontend::hf {

/// One op to add. Operands that are not named stay absent; names follow the kind's definition.
struct OpSpec {
  std::string_view kind;
  std::string name;  ///< Within the block: "attention.qkv".
  std::vector<std::pair<std::string_view, ir::Expr>> dims;
  std::vector<std::pair<std::string_view, ir::TensorId>> operands;
  ir::Split split = ir::Split::kReplicated;
  std::vector<std::pair<std::string_view, std::string>> attributes;
};

/// One matmul with a weight of its own. Its output tensor is made for it.
struct MatmulSpec {
  std::string name;
  ir::TensorId input;
  ir::Expr rows;
  std::int64_t in = 0;
  std::int64_t out = 0;
  WeightRole role = WeightRole::kDense;
  ir::Split split = ir::Split::kColumn;
  std::int64_t bias = 0;    ///< Bias elements; 0: none.
  std::int64_t copies = 1;  ///< Independent matrices (one a head).
};

/// One elementwise op: `out` elements from `in` elements.
struct ElementwiseSpec {
  std::string name;
  std::vector<ir::TensorId> inputs;
  std::vector<ir::Expr> shape;
  ir::Expr read;
  std::int64_t arithmetic = 1;
  std::int64_t special = 0;
  std::string function;
  ir::Split split = ir::Split::kReplicated;
};

/// A norm over the last of `columns`.
struct NormSpec {
  std::string name;
  ir::TensorId input;
  ir::Expr rows;
  std::int64_t columns = 0;
  std::int64_t gains =
      0;  ///< Elements of the gain: `columns`, more where groups of rows have their own; 0: none.
  bool residual = false;  ///< Adds the input to the residual stream first.
  bool may_bias = true;   ///< Whether the model's norms' bias, if they have one, is here too.
  ir::Split split = ir::Split::kReplicated;
};

/// A causal depthwise convolution, with the state it keeps between steps.
struct ConvolutionSpec {
  std::string name;
  ir::TensorId input;
  std::int64_t channels = 0;
  std::int64_t taps = 0;
  bool bias = false;
};

/// An op, by its position, and the type in which it reads its input.
using NarrowInput = std::pair<std::size_t, const ir::Dtype*>;

/// Adds ops to a graph: keeps the current block, makes names unique through it, and gives tensors
/// their types.
class Builder {
 public:
  Builder(const Architecture& architecture, Phase phase);

  /// Opens the block of a group; ops and tensors that follow belong to it.
  void open_block(const std::string& name, std::int64_t count, bool prefixed);
  void open_layer(const Layer& layer) { layer_ = &layer; }

  [[nodiscard]] const Architecture& architecture() const { return *architecture_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] const Layer& layer() const { return *layer_; }
  [[nodiscard]] ir::Graph& graph() { return graph_; }

  [[nodiscard]] ir::Expr number(std::int64_t value);
  [[nodiscard]] ir::Expr batch() const { return batch_; }
  [[nodiscard]] ir::Expr q_len() const { return q_len_; }
  [[nodiscard]] ir::Expr context() const { return context_; }
  [[nodiscard]] ir::Expr tokens() const { return batch_ * q_len_; }
  [[nodiscard]] std::int64_t hidden() const { return architecture_->hidden; }

  ir::TensorId activation(const std::string& name, std::vector<ir::Expr> shape);
  ir::TensorId weight(const std::string& name, const std::vector<std::int64_t>& shape,
                      const ir::Dtype* dtype = nullptr);
  ir::TensorId tensor(const std::string& name, ir::Role role, std::vector<ir::Expr> shape,
                      const ir::Dtype* dtype);

  void op(OpSpec spec);
  ir::TensorId matmul(const MatmulSpec& spec);
  /// As above into a tensor that is already there.
  void matmul_into(const MatmulSpec& spec, ir::TensorId output);
  /// As above with a weight that is already there (a tied head).
  ir::TensorId matmul_with(const MatmulSpec& spec, ir::TensorId weight);
  ir::TensorId elementwise(const ElementwiseSpec& spec);
  ir::TensorId norm(const NormSpec& spec);
  void norm_into(const NormSpec& spec, ir::TensorId output);
  /// A LayerNorm with bias, whatever the model's own norms are.
  void layer_norm_into(const NormSpec& spec, ir::TensorId output);
  ir::TensorId convolution(const ConvolutionSpec& spec);

  /// The residual stream between layers: what the last op of a layer wrote, not yet added to it.
  [[nodiscard]] ir::TensorId stream() const { return stream_; }
  [[nodiscard]] ir::TensorId residual() const { return residual_; }
  void make_stream();

  /// Says that the last op reads its input in the type that quantisation gives to `role`.
  void narrow_input(WeightRole role);
  [[nodiscard]] const std::vector<NarrowInput>& narrow_inputs() const { return narrow_; }

  /// What each layer adds for its own (gemma4 E models): all layers' rows of the table, side by
  /// side.
  ir::TensorId layer_inputs{};
  /// All residual streams side by side, and the weight of the router between them.
  ir::TensorId streams{};
  ir::TensorId stream_router{};
  /// The cache that the last layer with keys of its own, of that span, writes.
  std::array<std::optional<ir::TensorId>, 3> caches;

 private:
  ir::TensorId matmul_output(const MatmulSpec& spec);
  void add_norm(const Norm& kind, const NormSpec& spec, ir::TensorId output);
  void add_matmul(const MatmulSpec& spec, ir::TensorId weight, ir::TensorId output);
  [[nodiscard]] const WeightFormats& formats(WeightRole role) const;

  const Architecture* architecture_;
  Phase phase_;
  const Layer* layer_ = nullptr;
  ir::Graph graph_;
  ir::Expr batch_;
  ir::Expr q_len_;
  ir::Expr context_;
  ir::BlockId block_{};
  std::string prefix_;
  ir::TensorId stream_{};
  ir::TensorId residual_{};
  std::vector<NarrowInput> narrow_;
};

/// Mixers: from the normalised input to what is added to the stream, written to `output`.
void build_attention(Builder& builder, const Attention& attention, ir::TensorId input,
                     ir::TensorId output);
void build_mla(Builder& builder, const Mla& mla, ir::TensorId input, ir::TensorId output);
void build_linear_attention(Builder& builder, const LinearAttention& linear, ir::TensorId input,
                            ir::TensorId output);
void build_mamba1(Builder& builder, const Mamba1& mamba, ir::TensorId input, ir::TensorId output);
void build_mamba2(Builder& builder, const Mamba2& mamba, ir::TensorId input, ir::TensorId output);
void build_short_convolution(Builder& builder, const ShortConvolution& convolution,
                             ir::TensorId input, ir::TensorId output);
void build_gated_recurrence(Builder& builder, const GatedRecurrence& recurrence, ir::TensorId input,
                            ir::TensorId output);
void build_mixer(Builder& builder, const Mixer& mixer, ir::TensorId input, ir::TensorId output);

/// Feed-forwards likewise.
void build_dense(Builder& builder, const Dense& dense, ir::TensorId input, ir::TensorId output);
void build_moe(Builder& builder, const Moe& moe, ir::TensorId input, ir::TensorId output);

/// Gives matmul inputs their narrow types: where they are made if all readers agree, by an op of
/// its own otherwise.
void narrow_inputs(ir::Graph& graph, const std::vector<NarrowInput>& inputs);

/// The table of per-layer embeddings, projected and normalised, at the start of a step.
void build_layer_inputs(Builder& builder);
/// A layer's use of it, at the end of the layer.
void build_layer_input(Builder& builder);

/// Several residual streams (AltUp): made from the embedding, predicted before a layer, corrected
/// with what it gave, and joined before the head.
void build_streams(Builder& builder);
void build_prediction(Builder& builder);
void build_correction(Builder& builder);
void join_streams(Builder& builder);

/// A layer of the current block.
void build_layer(Builder& builder);

}  // namespace mansard::frontend::hf
