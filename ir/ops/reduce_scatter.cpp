#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// `n` is the message before; each device keeps n / p.
OpDef reduce_scatter() {
  const Expr n = dim("n");
  const Expr p = dim("p");
  return {
      .name = "reduce_scatter",
      .semantics = "o[n/p] = this device's share of sum over p devices of x[n]",
      .dims = {{"n", "elements of the message"}, {"p", "devices"}},
      .operands = {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = n},
                   {.name = "o",
                    .access = Access::kWrite,
                    .role = Role::kActivation,
                    .touched = ceil_div(n, p)}},
      .vector_flops = ceil_div((p - 1) * n, p) * flop(),
      .link_elements = ceil_div((p - 1) * n, p),
      .source =
          "Thakur, Rabenseifner, Gropp 2005 (Optimization of Collective Communication Operations "
          "in MPICH), section 4.2: (p-1)/p n sent",
  };
}

}  // namespace mansard::ir::ops
