#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// Maximum or mean over windows.
OpDef pool() {
  const Expr b = dim("b");
  const Expr n = dim("n");
  const Expr o = dim("o");
  const Expr k = dim("k");
  const Expr i = dim("i");
  return {
      .name = "pool",
      .semantics = "o[b,n,o] = reduce_k x[b,n,window(o,k)]",
      .dims = {{"b", "samples"},
               {"n", "channels"},
               {"o", "output positions"},
               {"k", "taps of a window"},
               {"i", "input elements of a sample"}},
      .operands =
          {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = b * i},
           {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = b * n * o},
           {.name = "indices",
            .access = Access::kWrite,
            .role = Role::kActivation,
            .touched = b * n * o,
            .optional = true}},
      .vector_flops = b * n * o * k * flop(),
      .source = "definition: one comparison or addition per tap",
  };
}

}  // namespace mansard::ir::ops
