#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// Greedy: the index of the greatest logit. Other samplers cost more; the bound holds for them too.
OpDef sample() {
  const Expr b = dim("b");
  const Expr n = dim("n");
  return {
      .name = "sample",
      .semantics = "tokens[b] = argmax_n logits[b,n]",
      .dims = {{"b", "sequences"}, {"n", "vocabulary"}},
      .operands =
          {{.name = "logits", .access = Access::kRead, .role = Role::kActivation, .touched = b * n},
           {.name = "tokens", .access = Access::kWrite, .role = Role::kActivation, .touched = b}},
      .vector_flops = b * n * flop(),
      .source = "definition: one comparison per logit",
  };
}

}  // namespace mansard::ir::ops
