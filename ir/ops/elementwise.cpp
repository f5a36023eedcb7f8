#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"
#include "ir/ops/many_inputs.hpp"

namespace mansard::ir::ops {

/// `i` counts what is read of x; of further inputs too where they bind no count of their own: a
/// gated activation of a language model reads two per output.
OpDef elementwise() {
  const Expr n = dim("n");
  const Expr a = dim("a");
  const Expr s = dim("s");
  return {
      .name = "elementwise",
      .semantics = "o[n] = f(x[n], y[n], ...)",
      .dims = with_more_inputs({{"n", "elements written"},
                                {"i", "elements read"},
                                {"a", "arithmetic per output"},
                                {"s", "special operations per output", 0}}),
      .operands = many_inputs(),
      .vector_flops = a * n * flop(),
      .special_ops = s * n,
      .source = "definition: the op states its arithmetic per output",
  };
}

}  // namespace mansard::ir::ops
