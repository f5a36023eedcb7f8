#pragma once

#include <cstdint>

#include "ir/expr.hpp"

/// Query-key pairs and keys of one head and sequence, when `q_len` new tokens end at position
/// `context` (which counts them). With F(x) the pairs of the first x tokens, the new ones have
/// F(context) - F(context - q_len). These bind `p` and `t` of the attention ops.
namespace mansard::ir {

struct AttentionPairs {
  Expr pairs;      ///< Query-key pairs that are not masked.
  Expr keys_read;  ///< Distinct keys that the new tokens attend to.
};

/// Every token attends to all before it and to itself: F(x) = x (x + 1) / 2.
[[nodiscard]] AttentionPairs causal_pairs(Expr context, Expr q_len);

/// Every token attends to the last `window` tokens, itself included:
/// F(x) = m (m + 1) / 2 + max(x - window, 0) * window with m = min(x, window).
[[nodiscard]] AttentionPairs windowed_pairs(Expr context, Expr q_len, std::int64_t window);

/// Positions are cut into chunks of `chunk`, and a token attends causally within its own:
/// F(x) = floor(x / chunk) * chunk (chunk + 1) / 2 + r (r + 1) / 2 with r = x mod chunk.
[[nodiscard]] AttentionPairs chunked_pairs(Expr context, Expr q_len, std::int64_t chunk);

/// No mask, as in encoders and cross attention: q_len * context.
[[nodiscard]] AttentionPairs full_pairs(Expr context, Expr q_len);

}  // namespace mansard::ir
