#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/hf/weight_formats.hpp"

/// What a config says, whatever its family: sizes, and layer kinds with their counts. `build_graph`
/// turns it into ops.
namespace mansard::frontend::hf {

struct Norm {
  bool layer = false;  ///< LayerNorm; otherwise RMSNorm.
  bool gain = true;
  bool bias = false;
  friend bool operator==(const Norm&, const Norm&) = default;
};

/// Where the norms of a layer stand. A layer without a feed-forward (or without a mixer) has only
/// the mixer's (or its).
enum class NormPlacement : std::uint8_t {
  kPre,       ///< Before mixer and feed-forward, on the residual stream.
  kPost,      ///< On the output of each, before it is added (olmo2).
  kSandwich,  ///< Both (gemma 2 and later, glm4).
  kResidual,  ///< After the addition (opt-350m).
};

/// Which earlier tokens attention sees.
enum class Span : std::uint8_t {
  kFull,
  kWindow,  ///< The last `reach`, itself included.
  kChunk,   ///< Those in the same chunk of `reach`.
};

enum class QkNorm : std::uint8_t {
  kNone,
  kPerHead,      ///< Over each head, one gain for all heads.
  kEachHead,     ///< Over each head, a gain for each.
  kFullWidth,    ///< Over all heads together.
  kWithoutGain,  ///< Over each head, no parameters.
};

/// A sigmoid gate on the output of a mixer.
enum class OutputGate : std::uint8_t { kNone, kElementwise, kPerHead };

struct Attention {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t rope_dims = 0;  ///< Rotary dims of a head; 0: none.
  Span span = Span::kFull;
  std::int64_t reach = 0;
  bool qkv_bias = false;
  bool output_bias = false;
  QkNorm qk_norm = QkNorm::kNone;
  bool qk_norm_bias = false;
  bool inner_norm = false;  ///< Over all heads' outputs, before the output projection (bitnet).
  bool value_norm = false;  ///< Values are normalised too, without a gain (gemma4).
  OutputGate gate = OutputGate::kNone;
  bool sinks = false;         ///< One learned sink per head.
  bool key_is_value = false;  ///< One projection serves as key and value.
  bool shares_cache =
      false;  ///< Attends to the cache of an earlier layer and has no keys and values of its own.
  friend bool operator==(const Attention&, const Attention&) = default;
};

/// DeepSeek sparse attention: an indexer scores all earlier tokens, attention reads the best
/// `top_k`.
struct SparseIndex {
  std::int64_t heads = 0;
  std::int64_t dim = 0;
  std::int64_t top_k = 0;
  bool shared = false;  ///< Uses the choice of an earlier layer and has no indexer of its own.
  friend bool operator==(const SparseIndex&, const SparseIndex&) = default;
};

/// Multi-head latent attention.
struct Mla {
  std::int64_t heads = 0;
  std::int64_t q_rank = 0;  ///< 0: one plain query projection.
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;
  std::int64_t rope_dim = 0;
  std::int64_t value_dim = 0;
  bool bias = false;    ///< On q_a (or q), kv_a and the output.
  bool rotates = true;  ///< Whether the rotary dims are rotated (kimi-linear does not).
  std::optional<SparseIndex> index;
  friend bool operator==(const Mla&, const Mla&) = default;
};

struct LinearAttention {
  enum class Kind : std::uint8_t {
    kGatedDeltaNet,  ///< qwen3-next: short convolution on q, k, v; gates per head; gated norm.
    kKimiDelta,  ///< kimi-linear: convolutions apart, decay per channel from a low-rank pair, gated
                 ///< norm.
    kLightning,  ///< minimax: fixed decay per head, SiLU on q, k, v, norm and sigmoid gate.
  };
  Kind kind = Kind::kGatedDeltaNet;
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t taps = 0;  ///< Of the short convolution; 0: none.
  friend bool operator==(const LinearAttention&, const LinearAttention&) = default;
};

struct Mamba1 {
  std::int64_t inner = 0;
  std::int64_t state = 0;
  std::int64_t dt_rank = 0;
  std::int64_t taps = 0;
  bool conv_bias = true;
  bool projection_bias = false;
  enum class InnerNorms : std::uint8_t { kNone, kGain, kWithoutGain };
  InnerNorms inner_norms =
      InnerNorms::kNone;  ///< On dt, B and C (jamba: with gain; falcon-mamba: without).
  friend bool operator==(const Mamba1&, const Mamba1&) = default;
};

struct Mamba2 {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t groups = 0;
  std::int64_t state = 0;
  std::int64_t taps = 0;
  bool conv_bias = true;
  bool projection_bias = false;
  bool gated_norm = true;
  friend bool operator==(const Mamba2&, const Mamba2&) = default;
};

/// LFM2's gated short convolution.
struct ShortConvolution {
  std::int64_t taps = 0;
  bool bias = false;
  friend bool operator==(const ShortConvolution&, const ShortConvolution&) = default;
};

/// Griffin's block: a linear recurrence with gates that are block-diagonal maps, beside a gelu
/// gate.
struct GatedRecurrence {
  std::int64_t width = 0;
  std::int64_t blocks = 0;
  std::int64_t taps = 0;
  friend bool operator==(const GatedRecurrence&, const GatedRecurrence&) = default;
};

/// A mixer that is one matmul (an attention that pruning replaced by a linear map).
struct LinearMap {
  friend bool operator==(const LinearMap&, const LinearMap&) = default;
};

using Mixer = std::variant<std::monostate, Attention, Mla, LinearAttention, Mamba1, Mamba2,
                           ShortConvolution, GatedRecurrence, LinearMap>;

/// What an activation function costs an output element, gate product included where there is one.
struct Activation {
  std::string name = "silu";
  std::int64_t arithmetic = 2;
  std::int64_t special = 1;
  std::int64_t parameters = 0;  ///< Learned scalars of the function (xIELU has two).
  friend bool operator==(const Activation&, const Activation&) = default;
};

struct Dense {
  std::int64_t width = 0;  ///< 0: one linear map from and to the hidden size.
  bool gated = true;
  bool bias = false;
  bool inner_norm = false;  ///< Before the second projection (bitnet).
  Activation activation;
  friend bool operator==(const Dense&, const Dense&) = default;
};

struct Moe {
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::int64_t width = 0;
  std::int64_t shared_width = 0;  ///< Of all shared experts together; 0: none.
  bool shared_gate = false;       ///< A sigmoid gate one wide on the shared expert.
  bool gated = true;
  bool router_bias = false;
  bool correction_bias = false;  ///< Added to the scores for the choice only.
  bool expert_bias = false;
  std::int64_t zero_experts = 0;  ///< Further choices of the router that cost nothing.
  std::int64_t latent =
      0;  ///< Experts work in a space of this size, projected to and from; 0: the hidden size.
  bool router_scale =
      false;  ///< gemma4: a gain per channel before the router and one scale per expert after it.
  Activation activation;
  friend bool operator==(const Moe&, const Moe&) = default;
};

struct Layer {
  Mixer mixer;
  Mixer second_mixer;  ///< Beside `mixer` on the same input, outputs added (falcon-h1).
  std::optional<Dense> dense;
  std::optional<Moe> moe;  ///< With `dense`: both, their outputs added (gemma4).
  bool one_norm = false;   ///< With both `dense` and `moe`: they read one input, and their outputs
                           ///< are added as they are (longcat, grok 2).
  NormPlacement norms = NormPlacement::kPre;
  bool parallel = false;           ///< Mixer and feed-forward read the same input.
  bool second_input_norm = false;  ///< Of a parallel layer: the feed-forward has a norm of its own.
  std::int64_t layer_input =
      0;  ///< Width of the embedding that this layer adds for its own (gemma4 E models).
  std::int64_t laurel_rank = 0;  ///< Of a low-rank map beside the mixer (gemma3n); 0: none.
  WeightFormats formats;
  friend bool operator==(const Layer&, const Layer&) = default;
};

/// Layers of one kind. They need not be neighbours: the order of the groups is that of first
/// appearance.
struct LayerGroup {
  std::string name;
  std::int64_t count = 0;
  Layer layer;
};

struct Architecture {
  std::string family;
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_context = 0;
  std::int64_t heads = 0;     ///< For `ModelFacts`.
  std::int64_t kv_heads = 0;  ///< For `ModelFacts`.
  bool tied = false;
  bool head_bias = false;
  Norm norm;
  bool embedding_norm = false;
  bool final_norm = true;
  bool alibi = false;
  std::int64_t positions = 0;  ///< Rows of a learned position table; 0: none.
  std::int64_t embedding_width =
      0;  ///< Where it is not the hidden size: projected in and out (opt-350m).
  std::int64_t layer_input_vocabulary =
      0;                     ///< Rows of the table of per-layer embeddings (gemma4 E models).
  std::int64_t streams = 1;  ///< Copies of the residual stream that layers predict and correct
                             ///< (gemma3n's AltUp).
  std::vector<LayerGroup> groups;
  const ir::Dtype* weights = nullptr;  ///< As stored, where no quantisation says otherwise.
  const ir::Dtype* activations = nullptr;
  const ir::Dtype* kv = nullptr;
  WeightFormats formats;  ///< Of weights outside the layers.
  std::vector<std::string> notes;
};

}  // namespace mansard::frontend::hf
