#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// `n` is the gathered message; each device contributes n / p.
OpDef all_gather() {
  const Expr n = dim("n");
  const Expr p = dim("p");
  return {
      .name = "all_gather",
      .semantics = "o[n] = concatenation over p devices of x[n/p]",
      .dims = {{"n", "elements of the message"}, {"p", "devices"}},
      .operands =
          {{.name = "x",
            .access = Access::kRead,
            .role = Role::kActivation,
            .touched = ceil_div(n, p)},
           {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = n}},
      .link_elements = ceil_div((p - 1) * n, p),
      .source =
          "Thakur, Rabenseifner, Gropp 2005 (Optimization of Collective Communication Operations "
          "in MPICH), section 4.1: (p-1)/p n sent",
  };
}

}  // namespace mansard::ir::ops
