#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/hf/architecture.hpp"
#include "frontend/hf/config.hpp"

/// A family of models as data: which configs it serves, how they spell the concepts, what an absent
/// key means, and how layers differ. To add one, write a function `Family name()` in a file of
/// families/ and name it in families.def.
///
///     Family qwen3() {
///       return {.name = "qwen3",
///               .architectures = {"Qwen3ForCausalLM"},
///               .model_types = {"qwen3"},
///               .attention = {.qkv_bias = from("attention_bias"), .qk_norm = QkNorm::kPerHead},
///               .layers = {switched_window()}};
///     }
namespace mansard::frontend::hf {

/// How a family spells the concepts. The defaults serve most; an empty list: the family has no such
/// key.
struct Names {
  KeyList hidden = {"hidden_size", "n_embd", "d_model", "n_embed"};
  KeyList layers = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
  KeyList heads = {"num_attention_heads", "n_head", "n_heads"};
  KeyList kv_heads = {"num_key_value_heads"};
  KeyList head_dim = {"head_dim"};
  KeyList value_dim;
  KeyList ffn = {"intermediate_size"};
  KeyList vocabulary = {"vocab_size"};
  KeyList max_context = {"max_position_embeddings", "n_positions", "n_ctx",
                         "max_sequence_length",     "seq_length",  "max_seq_len"};
  KeyList window = {"sliding_window"};
  KeyList chunk = {"attention_chunk_size"};
  KeyList experts = {"num_experts", "num_local_experts", "n_routed_experts", "num_routed_experts"};
  KeyList top_k = {"num_experts_per_tok", "experts_per_token", "moe_top_k"};
  KeyList expert_width = {"moe_intermediate_size"};
  KeyList shared_experts = {"n_shared_experts", "num_shared_experts"};
  KeyList shared_width = {"shared_expert_intermediate_size"};
  KeyList activation = {"hidden_act", "hidden_activation", "activation_function"};
};

/// What the class assumes for absent keys; 0: the key must be there (or follows from others).
struct Defaults {
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< 0: as many as heads.
  std::int64_t head_dim = 0;  ///< 0: hidden / heads.
  std::int64_t ffn = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_context = 0;
  std::int64_t window = 0;
  std::int64_t chunk = 0;
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::int64_t expert_width = 0;  ///< 0: the feed-forward width.
  std::int64_t shared_width = 0;
  std::int64_t ffn_per_hidden =
      0;  ///< Feed-forward width of an absent key as a multiple of hidden.
  double rotary_fraction = 1;
  std::string_view activation = "silu";
};

/// A trait that is always so, or that a key decides.
struct Flag {
  std::string_view key;    ///< Empty: always `otherwise`.
  bool otherwise = false;  ///< What an absent key means.
  bool inverted = false;   ///< The key states the opposite.
};
inline Flag always() {
  return {.key = {}, .otherwise = true};
}
inline Flag from(std::string_view key, bool otherwise = false) {
  return {.key = key, .otherwise = otherwise};
}
inline Flag unless(std::string_view key, bool otherwise) {
  return {.key = key, .otherwise = otherwise, .inverted = true};
}

struct AttentionTraits {
  Flag qkv_bias;
  Flag output_bias;
  QkNorm qk_norm = QkNorm::kNone;
  Flag has_qk_norm = always();  ///< Whether `qk_norm` applies.
  OutputGate gate = OutputGate::kNone;
  bool sinks = false;
  bool rope = true;
  KeyList rotary_fraction = {"partial_rotary_factor", "rope_parameters.partial_rotary_factor"};
  KeyList rotary_dims;
};

struct FeedForwardTraits {
  bool gated = true;
  Flag bias;
  Flag shared_gate;
  Flag router_bias;
  Flag correction_bias;
  Flag expert_bias;
};

struct HeadTraits {
  Flag tied = from("tie_word_embeddings");
  Flag bias;
};

enum class MixerKind : std::uint8_t { kFull, kSliding, kChunked, kLinear, kMamba, kNone };
enum class FeedForwardKind : std::uint8_t { kDense, kMoe, kBoth, kNone };

/// The choice for one layer, which the rules of a family fill in.
struct LayerPlan {
  MixerKind mixer = MixerKind::kFull;
  FeedForwardKind feed_forward = FeedForwardKind::kDense;
  bool rope = true;
};
using Plan = std::vector<LayerPlan>;

/// More layers than any model has: a hostile count must not cost memory.
inline constexpr std::int64_t kMostLayers = 1000;

/// One aspect in which layers differ; see rules.hpp.
using Rule = std::function<void(Config&, Plan&)>;

/// The numbers that all layers share.
struct Sizes {
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;
};

/// Reads a mixer other than plain attention; see mixers.hpp.
using MixerReader = std::function<Mixer(Config&, const Sizes&)>;

struct Family {
  std::string_view name;
  std::vector<std::string_view> architectures;
  std::vector<std::string_view> model_types;
  Names keys = {};
  Defaults defaults = {};
  Norm norm = {};
  NormPlacement norms = NormPlacement::kPre;
  Flag parallel = {};
  Flag second_input_norm = {};
  AttentionTraits attention = {};
  FeedForwardTraits feed_forward = {};
  HeadTraits head = {};
  std::vector<Rule>
      layers;  ///< In the order in which they apply; none: all alike, full attention, dense.
  /// The mixer of layers planned as full (instead of attention), as linear and as mamba.
  MixerReader latent;
  MixerReader linear;
  MixerReader mamba;
  /// What no other member can say, on the one prototype layer of each place; and on the whole.
  std::function<void(Config&, std::vector<Layer>&)> adjust_layers;
  std::function<void(Config&, Architecture&)> adjust;
  /// Keys that must have this value if they are there: another would be another graph.
  std::vector<std::pair<std::string_view, std::string_view>> expects;
  /// Keys without effect on the graph of this family (decoys included).
  std::vector<std::string_view> ignores;
  /// Of the whole document: what it says beside the text model is not counted, with a note.
  std::vector<std::string_view> notes;
};

/// Every family, in the order of families.def.
[[nodiscard]] const std::vector<Family>& families();

/// The family of a config, or nullptr with a diagnostic in `config`.
[[nodiscard]] const Family* find_family(Config& config);

}  // namespace mansard::frontend::hf
