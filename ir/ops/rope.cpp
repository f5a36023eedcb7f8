#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// In place. Each pair takes four multiplies and two adds. The table of cosines and sines is a
/// buffer.
OpDef rope() {
  const Expr t = dim("t");
  const Expr r = dim("r");
  const Expr d = dim("d");
  return {
      .name = "rope",
      .semantics = "x[r,2j:2j+2] = rotate(x[r,2j:2j+2], position(r) * frequency(j))",
      .dims = {{"t", "tokens"}, {"r", "rows: tokens times heads"}, {"d", "rotary dims of a row"}},
      .operands =
          {{.name = "x", .access = Access::kReadWrite, .role = Role::kActivation, .touched = r * d},
           {.name = "table",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = t * d,
            .optional = true}},
      .vector_flops = 3 * r * d * flop(),
      .source = "RoFormer (arXiv 2104.09864, equation 34)",
  };
}

}  // namespace mansard::ir::ops
