#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "support/result.hpp"

/// Graph -> graph passes: each is a strategy that changes what moves. A pass keeps contraction FLOP
/// unless it says so, adds a sentence to `facts.notes` where it assumes something, and refuses what
/// cannot run with the reason. `model/demand.hpp` prints the demand before and after.
namespace mansard::ir {

/// Number formats by role. Weights and activations are those of the matmuls and expert matmuls of
/// layers; embedding, head, norms, biases and routers keep theirs. `activations` is the type in
/// which a matmul reads its input: where other ops read that tensor too, an op that makes a narrow
/// copy is inserted. `kv` is the type of the KV cache; recurrent state keeps its own. Null: as is.
struct Formats {
  const Dtype* weights = nullptr;
  const Dtype* kv = nullptr;
  const Dtype* activations = nullptr;
};
[[nodiscard]] Result<Graph> set_formats(Graph graph, const Formats& formats);

struct Parallelism {
  std::int64_t tp = 1;  ///< Tensor: heads, columns, rows and the vocabulary; all-reduce after rows.
  /// Expert: experts split over ranks, all-to-all dispatch and combine; a multiple of tp that
  /// divides tp x dp. 1: experts are split by tp like any matmul.
  std::int64_t ep = 1;
  std::int64_t dp = 1;  ///< Data: the batch split over replicas.
  /// Context: each rank holds 1/cp of the keys; partial attention outputs are reduced.
  std::int64_t cp = 1;
  /// Sequence parallelism: reduce-scatter and all-gather around norms instead of all-reduce.
  bool sequence = false;
};
/// One rank's graph. Heads, columns and experts that do not divide are refused, naming op and
/// numbers; KV heads fewer than tp are replicated and a vocabulary is padded (both noted), as
/// serving systems do. ir/passes/shard_rules.hpp says which dims divide.
[[nodiscard]] Result<Graph> shard(Graph graph, const Parallelism& parallelism);

enum class AttentionForm { kFused, kUnfused };
/// kUnfused: the score matrix is written and read (QK^T, softmax, PV as three ops); masked pairs
/// are computed too, so that prefill takes more FLOP. Only for `attention` ops.
[[nodiscard]] Result<Graph> set_attention(Graph graph, AttentionForm form);

/// Fuses norm with the residual add before it and activation with the gate product (they come
/// unfused from ONNX); frontends of language models already emit the fused forms, and
/// `unfuse_elementwise` splits them for implementations that run them apart. Both keep arithmetic.
[[nodiscard]] Graph fuse_elementwise(Graph graph);
[[nodiscard]] Graph unfuse_elementwise(Graph graph);

/// Routes through experts: how many distinct experts a step touches. `touched` fixes it; otherwise
/// the expectation under uniform routing.
struct Routing {
  std::optional<std::int64_t> touched;
};
[[nodiscard]] Result<Graph> route(Graph graph, const Routing& routing);

/// Of `held` experts, those that a step of `tokens` tokens is expected to touch, each of which
/// chooses `chosen` of `all` uniformly: held (1 - (1 - chosen/all)^tokens). Both are constants.
[[nodiscard]] Expr expected_experts(Expr held, Expr all, Expr chosen, Expr tokens);

/// KV cache: pages of `page` tokens (allocated whole), a window on every layer (fewer pairs: less
/// FLOP), or sharing of one cache by `share_layers` consecutive layers or of a common prefix of
/// `prefix` tokens among all sequences (read once, in an attention op of its own). 0 (of
/// share_layers: 1) leaves things as they are.
struct KvPolicy {
  std::int64_t page = 0;
  std::int64_t window = 0;
  std::int64_t share_layers = 1;
  std::int64_t prefix = 0;
};
[[nodiscard]] Result<Graph> set_kv_policy(Graph graph, const KvPolicy& policy);

/// Speculative decoding, the verifying step: q_len becomes draft + 1, and logits are computed for
/// every drafted token.
struct Speculation {
  std::int64_t draft = 0;
  double acceptance = 0;
};
[[nodiscard]] Result<Graph> speculate(Graph graph, const Speculation& speculation);

/// Tokens that a verifying step is expected to yield at acceptance rate a:
/// (1 - a^(draft + 1)) / (1 - a) (Leviathan et al., arXiv 2211.17192, equation 1).
[[nodiscard]] double expected_tokens(const Speculation& speculation);

}  // namespace mansard::ir
