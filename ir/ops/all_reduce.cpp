#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// In place. Without reduction in the network: each device must send its share of the scattered
/// sums and of the gathered results.
OpDef all_reduce() {
  const Expr n = dim("n");
  const Expr p = dim("p");
  return {
      .name = "all_reduce",
      .semantics = "x[n] = sum over p devices of x[n]",
      .dims = {{"n", "elements of the message"}, {"p", "devices"}},
      .operands =
          {{.name = "x", .access = Access::kReadWrite, .role = Role::kActivation, .touched = n}},
      .vector_flops = ceil_div((p - 1) * n, p) * flop(),
      .link_elements = ceil_div(2 * (p - 1) * n, p),
      .source =
          "Thakur, Rabenseifner, Gropp 2005 (Optimization of Collective Communication Operations "
          "in MPICH), section 4.5: 2 (p-1)/p n sent",
  };
}

}  // namespace mansard::ir::ops
