#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// Per element: maximum, subtraction, sum, division.
OpDef softmax() {
  const Expr r = dim("r");
  const Expr c = dim("c");
  const Expr h = dim("h");
  return {
      .name = "softmax",
      .semantics = "o[r,c] = exp(x[r,c] - max_c x) / sum_c exp(x[r,c] - max_c x)",
      .dims = {{"r", "rows"},
               {"c", "columns"},
               {"h", "learned sinks, each of which joins the sum of its rows", 0}},
      .operands =
          {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = r * c},
           {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = r * c},
           {.name = "sink",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = h,
            .optional = true}},
      .vector_flops = r * (4 * c + min(h, 1)) * flop(),
      .special_ops = r * (c + min(h, 1)),
      .source =
          "definition, with the maximum subtracted (Milakov and Gimelshein, arXiv 1805.02867)",
  };
}

}  // namespace mansard::ir::ops
