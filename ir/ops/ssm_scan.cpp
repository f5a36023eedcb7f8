#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// The recurrent form. Contractions: the rank-1 update of the state and its read-out. `x` says how
/// many exp a token takes: channels times state for Mamba, heads for Mamba-2.
OpDef ssm_scan() {
  const Expr b = dim("b");
  const Expr q = dim("q");
  const Expr h = dim("h");
  const Expr d = dim("d");
  const Expr s = dim("s");
  const Expr x = dim("x");
  const Expr g = dim("g");
  return {
      .name = "ssm_scan",
      .semantics = "S[b,h] = exp(dt * a) * S + (dt * x) B^T; o[b,q,h,:] = S C + D * x",
      .dims = {{"b", "sequences"},
               {"q", "new tokens of a sequence"},
               {"h", "heads, or channels"},
               {"d", "head dim; 1 if h counts channels"},
               {"s", "state per channel"},
               {"x", "exp per token"},
               {"g", "groups that share B and C", 1}},
      .operands =
          {{.name = "x",
            .access = Access::kRead,
            .role = Role::kActivation,
            .touched = b * q * h * d},
           {.name = "dt", .access = Access::kRead, .role = Role::kActivation, .touched = b * q * h},
           {.name = "bc",
            .access = Access::kRead,
            .role = Role::kActivation,
            .touched = 2 * b * q * g * s},
           {.name = "state",
            .access = Access::kReadWrite,
            .role = Role::kState,
            .touched = b * h * d * s},
           {.name = "o",
            .access = Access::kWrite,
            .role = Role::kActivation,
            .touched = b * q * h * d},
           {.name = "a",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = x,
            .optional = true}},
      .engine = Engine::kMatrix,
      .flops = 4 * b * q * h * d * s * flop(),
      .vector_flops = b * q * (h * d * s + 3 * h * d + x) * flop(),
      .special_ops = b * q * x,
      .source =
          "Mamba (arXiv 2312.00752, algorithm 2) and Mamba-2 (arXiv 2405.21060, section 3.2): 2 "
          "FLOP for update and read-out per state element each",
  };
}

}  // namespace mansard::ir::ops
