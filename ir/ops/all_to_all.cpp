#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// `n` is one device's buffer, of which it keeps n / p.
OpDef all_to_all() {
  const Expr n = dim("n");
  const Expr p = dim("p");
  return {
      .name = "all_to_all",
      .semantics = "o[j,n/p] on device i = x[i,n/p] of device j",
      .dims = {{"n", "elements of the message"}, {"p", "devices"}},
      .operands =
          {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = n},
           {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = n}},
      .link_elements = ceil_div((p - 1) * n, p),
      .source =
          "Thakur, Rabenseifner, Gropp 2005 (Optimization of Collective Communication Operations "
          "in MPICH), section 4.3: (p-1)/p n sent",
  };
}

}  // namespace mansard::ir::ops
