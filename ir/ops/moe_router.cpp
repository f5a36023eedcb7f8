#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// Scores of the experts and the choice of k; the matmul that makes the logits is an op of its own.
/// Arithmetic: softmax (4 per expert), one comparison per expert, the chosen ones renormalised. A
/// route is a weight and an index.
OpDef moe_router() {
  const Expr t = dim("t");
  const Expr e = dim("e");
  const Expr k = dim("k");
  const Expr bias = dim("bias");
  return {
      .name = "moe_router",
      .semantics = "routes[t,:k] = normalise(top_k_e(softmax_e(logits[t,e]) (+ bias[e])))",
      .dims = {{"t", "tokens"},
               {"e", "experts"},
               {"k", "experts chosen per token"},
               {"bias", "1 if a correction bias is added before the choice", 0}},
      .operands =
          {{.name = "logits", .access = Access::kRead, .role = Role::kActivation, .touched = t * e},
           {.name = "routes",
            .access = Access::kWrite,
            .role = Role::kActivation,
            .touched = 2 * t * k},
           {.name = "bias",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = e,
            .optional = true}},
      .vector_flops = t * (e * (5 + bias) + 2 * k) * flop(),
      .special_ops = t * e,
      .source =
          "Switch Transformers (arXiv 2101.03961, section 2.1); DeepSeek-V3 (arXiv 2412.19437, "
          "section 2.1.2) for the bias",
  };
}

}  // namespace mansard::ir::ops
