#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// The experts' matmuls as one op. `u` is an expectation (distinct experts that a step routes to)
/// and decides the bytes of the estimate; `l`, the fewest experts that the rows can go to, those of
/// the bound.
OpDef grouped_matmul() {
  const Expr m = dim("m");
  const Expr n = dim("n");
  const Expr k = dim("k");
  const Expr e = dim("e");
  const Expr u = dim("u");
  const Expr l = dim("l");
  const Expr bias = dim("bias");
  return {
      .name = "grouped_matmul",
      .semantics = "c[m,n] = sum_k a[m,k] * w[expert(m),k,n] (+ bias[expert(m),n])",
      .dims = {{"m", "rows over all experts: tokens times experts per token"},
               {"n", "output features"},
               {"k", "reduced features"},
               {"e", "experts held"},
               {"u", "experts touched, expected"},
               {"l", "experts touched, fewest"},
               {"bias", "1 if each expert has a bias", 0}},
      .operands =
          {{.name = "a", .access = Access::kRead, .role = Role::kActivation, .touched = m * k},
           {.name = "w",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = min(u, e) * k * n,
            .touched_least = min(l, e) * k * n},
           {.name = "c", .access = Access::kWrite, .role = Role::kActivation, .touched = m * n},
           {.name = "bias",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = min(u, e) * n,
            .touched_least = min(l, e) * n,
            .optional = true}},
      .engine = Engine::kMatrix,
      .flops = 2 * m * n * k * flop(),
      .vector_flops = bias * m * n * flop(),
      .source =
          "definition: one multiply and one add per (m, n, k); expert weights once each, as "
          "MegaBlocks (Gale et al. 2022) groups them",
  };
}

}  // namespace mansard::ir::ops
