#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// Fused: scores never leave the chip. Softmax arithmetic per score: scale, running maximum,
/// subtraction, sum; then one division per output.
OpDef attention() {
  const Expr b = dim("b");
  const Expr h = dim("h");
  const Expr g = dim("g");
  const Expr q = dim("q");
  const Expr t = dim("t");
  const Expr p = dim("p");
  const Expr d = dim("d");
  const Expr v = dim("v");
  const Expr sink = dim("sink");
  return {
      .name = "attention",
      .semantics = "o[b,h,q,:] = sum_t softmax_t(q[b,h,q,:] . k[b,g(h),t,:]) * v[b,g(h),t,:]",
      .dims = {{"b", "sequences"},
               {"h", "query heads"},
               {"g", "KV heads"},
               {"q", "new tokens of a sequence"},
               {"t", "keys read of a sequence"},
               {"p", "query-key pairs of a head and sequence"},
               {"d", "head dim of queries and keys"},
               {"v", "head dim of values"},
               {"sink", "1 if each head has a learned sink", 0}},
      .operands =
          {{.name = "q",
            .access = Access::kRead,
            .role = Role::kActivation,
            .touched = b * h * q * d},
           {.name = "k", .access = Access::kRead, .role = Role::kKvCache, .touched = b * g * t * d},
           {.name = "v", .access = Access::kRead, .role = Role::kKvCache, .touched = b * g * t * v},
           {.name = "o",
            .access = Access::kWrite,
            .role = Role::kActivation,
            .touched = b * h * q * v},
           {.name = "sink",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = h,
            .optional = true}},
      .engine = Engine::kMatrix,
      .flops = 2 * b * h * p * (d + v) * flop(),
      .vector_flops = b * h * (4 * p + q * (v + sink)) * flop(),
      .special_ops = b * h * (p + sink * q),
      .source =
          "FlashAttention (Dao et al. 2022, section 3): QK^T and PV once per pair, IO of q, k, v, "
          "o only; exp once per pair",
  };
}

}  // namespace mansard::ir::ops
