#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// `a` counts the arithmetic of the normalisation itself: 3 for RMSNorm (square, add, scale), 5 for
/// LayerNorm (add, subtract, square, add, scale). Gain, bias and residual add one each.
OpDef norm() {
  const Expr r = dim("r");
  const Expr c = dim("c");
  const Expr a = dim("a");
  const Expr residual = dim("residual");
  const Expr bias = dim("bias");
  const Expr w = dim("w");
  return {
      .name = "norm",
      .semantics = "residual += x; o[r,c] = gain[c] * normalise_c(residual[r,c]) + bias[c]",
      .dims = {{"r", "rows"},
               {"c", "columns"},
               {"a", "arithmetic per element"},
               {"residual", "1 if x is added to the residual stream first", 0},
               {"bias", "1 if there is a bias", 0},
               {"w", "1 if there is a gain", 0}},
      .operands =
          {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = r * c},
           {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = r * c},
           {.name = "gain",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = c,
            .optional = true},
           {.name = "bias",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = c,
            .optional = true},
           {.name = "residual",
            .access = Access::kReadWrite,
            .role = Role::kActivation,
            .touched = r * c,
            .optional = true}},
      .vector_flops = r * c * (a + residual + bias + w) * flop(),
      .special_ops = r,
      .source =
          "RMSNorm (arXiv 1910.07467), LayerNorm (arXiv 1607.06450): one pass of arithmetic, one "
          "rsqrt per row",
  };
}

}  // namespace mansard::ir::ops
