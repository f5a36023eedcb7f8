#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// The greatest k of each row, and where they stand.
OpDef top_k() {
  const Expr r = dim("r");
  const Expr c = dim("c");
  const Expr k = dim("k");
  return {
      .name = "top_k",
      .semantics = "o[r,:k], indices[r,:k] = greatest k of x[r,:]",
      .dims = {{"r", "rows"}, {"c", "columns"}, {"k", "chosen of a row"}},
      .operands =
          {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = r * c},
           {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = r * k},
           {.name = "indices",
            .access = Access::kWrite,
            .role = Role::kActivation,
            .touched = r * k,
            .optional = true}},
      .vector_flops = r * c * flop(),
      .source = "definition: no choice without one comparison per element",
  };
}

}  // namespace mansard::ir::ops
