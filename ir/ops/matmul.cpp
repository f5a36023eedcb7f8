#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// `w` may be an activation or a cache too: unfused attention multiplies two of them.
OpDef matmul() {
  const Expr b = dim("b");
  const Expr m = dim("m");
  const Expr n = dim("n");
  const Expr k = dim("k");
  const Expr bias = dim("bias");
  const Expr e = dim("e");
  const Expr es = dim("es");
  return {
      .name = "matmul",
      .semantics = "c[b,m,n] = sum_k a[b,m,k] * w[b,k,n] (+ bias[n])",
      .dims = {{"b", "independent matrices"},
               {"m", "rows"},
               {"n", "output features"},
               {"k", "reduced features"},
               {"bias", "1 if a bias is added", 0},
               {"e", "arithmetic of a fused epilogue, per output", 0},
               {"es", "special operations of the epilogue, per output", 0}},
      .operands =
          {{.name = "a", .access = Access::kRead, .role = Role::kActivation, .touched = b * m * k},
           {.name = "w", .access = Access::kRead, .role = Role::kWeight, .touched = b * k * n},
           {.name = "c", .access = Access::kWrite, .role = Role::kActivation, .touched = b * m * n},
           {.name = "bias",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = n,
            .optional = true},
           {.name = "residual",
            .access = Access::kRead,
            .role = Role::kActivation,
            .touched = b * m * n,
            .optional = true}},
      .engine = Engine::kMatrix,
      .flops = 2 * b * m * n * k * flop(),
      .vector_flops = (bias + e) * b * m * n * flop(),
      .special_ops = es * b * m * n,
      .source = "definition: one multiply and one add per (b, m, n, k)",
  };
}

}  // namespace mansard::ir::ops
