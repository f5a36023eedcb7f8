#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// A gather: no more rows move than tokens ask for or the table has.
OpDef embedding() {
  const Expr t = dim("t");
  const Expr c = dim("c");
  const Expr n = dim("n");
  return {
      .name = "embedding",
      .semantics = "o[t,c] = table[ids[t],c]",
      .dims = {{"t", "tokens"}, {"c", "columns"}, {"n", "rows of the table"}},
      .operands =
          {{.name = "table",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = min(t, n) * c},
           {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = t * c},
           {.name = "ids",
            .access = Access::kRead,
            .role = Role::kActivation,
            .touched = t,
            .optional = true}},
      .source = "definition: a gather does no arithmetic",
  };
}

}  // namespace mansard::ir::ops
