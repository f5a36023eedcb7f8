#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// Sums, means, maxima, norms over some axes; scans over one write as many as they read.
OpDef reduce() {
  const Expr r = dim("r");
  const Expr c = dim("c");
  const Expr a = dim("a");
  const Expr s = dim("s");
  const Expr w = dim("w");
  return {
      .name = "reduce",
      .semantics = "o[r] = reduce_c f(x[r,c])",
      .dims = {{"r", "results"},
               {"c", "elements of a result"},
               {"a", "arithmetic per element", 1},
               {"s", "special operations per element", 0},
               {"w", "elements written per result (a running sum writes all)", 1}},
      .operands =
          {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = r * c},
           {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = r * w}},
      .vector_flops = r * c * a * flop(),
      .special_ops = r * c * s,
      .source = "definition: one operation joins an element to its result",
  };
}

}  // namespace mansard::ir::ops
