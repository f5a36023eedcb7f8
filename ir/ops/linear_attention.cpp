#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// The recurrent form, which no chunked form undercuts in FLOP. Contractions of the d x v state per
/// token and value head: read-out and rank-1 update (2), and the delta rule's prediction (3).
/// Gates: one decay and one step size per value head and token.
OpDef linear_attention() {
  const Expr b = dim("b");
  const Expr q = dim("q");
  const Expr g = dim("g");
  const Expr h = dim("h");
  const Expr d = dim("d");
  const Expr v = dim("v");
  const Expr a = dim("a");
  return {
      .name = "linear_attention",
      .semantics = "S[b,h] = decay * S + k (v - a_delta * S^T k)^T; o[b,q,h,:] = S^T q",
      .dims = {{"b", "sequences"},
               {"q", "new tokens of a sequence"},
               {"g", "key heads"},
               {"h", "value heads"},
               {"d", "key head dim"},
               {"v", "value head dim"},
               {"a", "contractions of the state a token: 3 for the delta rule, 2 without", 3}},
      .operands = {{.name = "q",
                    .access = Access::kRead,
                    .role = Role::kActivation,
                    .touched = b * q * g * d},
                   {.name = "k",
                    .access = Access::kRead,
                    .role = Role::kActivation,
                    .touched = b * q * g * d},
                   {.name = "v",
                    .access = Access::kRead,
                    .role = Role::kActivation,
                    .touched = b * q * h * v},
                   {.name = "state",
                    .access = Access::kReadWrite,
                    .role = Role::kState,
                    .touched = b * h * d * v},
                   {.name = "o",
                    .access = Access::kWrite,
                    .role = Role::kActivation,
                    .touched = b * q * h * v},
                   {.name = "gates",
                    .access = Access::kRead,
                    .role = Role::kActivation,
                    .touched = 2 * b * q * h,
                    .optional = true}},
      .engine = Engine::kMatrix,
      .flops = 2 * a * b * q * h * d * v * flop(),
      .vector_flops = b * q * h * (d * v + (a - 1) * v) * flop(),
      .special_ops = b * q * h,
      .source =
          "Gated Delta Networks (arXiv 2412.06464, equation 10); the decay is one multiply per "
          "state element and one exp per head",
  };
}

}  // namespace mansard::ir::ops
