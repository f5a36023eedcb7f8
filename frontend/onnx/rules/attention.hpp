#pragma once

#include <string>

#include "frontend/onnx/rules/common.hpp"
#include "ir/attention_pairs.hpp"

/// What the kinds of attention share.
namespace mansard::frontend::onnx {

/// The extents of an attention, however its inputs are laid out.
struct Heads {
  Expr batch;
  Expr queries;  ///< New tokens.
  Expr keys;     ///< New keys.
  Expr past;     ///< Keys in the cache before; 0 of none.
  Expr heads;
  Expr kv_heads;
  Expr head_dim;
  Expr value_dim;
  bool causal = false;
  std::int64_t window = 0;

  [[nodiscard]] Expr context() const { return sum(past, keys); }
};

/// The values that an attention reads.
struct AttentionInputs {
  ValueId query;
  ValueId key;
  ValueId value;
};

void emit_attention(const Node& node, const Heads& heads, const ir::AttentionPairs& pairs,
                    const AttentionInputs& inputs, ValueId output);

}  // namespace mansard::frontend::onnx
