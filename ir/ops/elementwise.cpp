#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// `i` counts the elements of x and y together: a gated activation reads two per output.
OpDef elementwise() {
  const Expr n = dim("n");
  const Expr i = dim("i");
  const Expr a = dim("a");
  const Expr s = dim("s");
  return {
      .name = "elementwise",
      .semantics = "o[n] = f(x[n], y[n], ...)",
      .dims = {{"n", "elements written"},
               {"i", "elements read"},
               {"a", "arithmetic per output"},
               {"s", "special operations per output", 0}},
      .operands = {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = i},
                   {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = n},
                   {.name = "y",
                    .access = Access::kRead,
                    .role = Role::kActivation,
                    .touched = number(0),
                    .optional = true}},
      .vector_flops = a * n * flop(),
      .special_ops = s * n,
      .source = "definition: the op states its arithmetic per output",
  };
}

}  // namespace mansard::ir::ops
