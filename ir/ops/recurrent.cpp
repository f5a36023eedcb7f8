#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// LSTM, GRU and plain recurrent layers: each of the t steps waits for the one before.
OpDef recurrent() {
  const Expr t = dim("t");
  const Expr b = dim("b");
  const Expr h = dim("h");
  const Expr i = dim("i");
  const Expr g = dim("g");
  const Expr d = dim("d");
  const Expr a = dim("a");
  const Expr s = dim("s");
  return {
      .name = "recurrent",
      .semantics = "state = cell(x[t,b,:] * w[g,i] + state * r[g,h]); o[t,d,b,:] = state",
      .dims = {{"t", "steps of the sequence"},
               {"b", "sequences"},
               {"h", "hidden size"},
               {"i", "input size"},
               {"g", "gates: 4 of an LSTM, 3 of a GRU, 1 of a plain layer"},
               {"d", "directions", 1},
               {"a", "arithmetic per hidden unit and step"},
               {"s", "exp and tanh per hidden unit and step"}},
      .operands =
          {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = t * b * i},
           {.name = "w", .access = Access::kRead, .role = Role::kWeight, .touched = d * g * h * i},
           {.name = "r", .access = Access::kRead, .role = Role::kWeight, .touched = d * g * h * h},
           {.name = "o",
            .access = Access::kWrite,
            .role = Role::kActivation,
            .touched = t * d * b * h},
           {.name = "bias",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = 2 * d * g * h,
            .optional = true},
           {.name = "last",
            .access = Access::kWrite,
            .role = Role::kActivation,
            .touched = d * b * h,
            .optional = true}},
      .engine = Engine::kMatrix,
      .flops = 2 * t * b * d * g * h * (i + h) * flop(),
      .vector_flops = t * b * d * h * a * flop(),
      .special_ops = t * b * d * h * s,
      .source =
          "Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000; Cho et al. "
          "2014 (arXiv 1406.1078): every gate multiplies input and state once a step",
  };
}

}  // namespace mansard::ir::ops
