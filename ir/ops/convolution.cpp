#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// A transposed convolution is written as the one whose gradient it is: n are its input channels, o
/// its input positions, k its taps times output channels of a group, and `u` what it writes.
/// `state` is the tail that a causal depthwise convolution keeps between steps: the last k - 1
/// inputs of each channel.
OpDef convolution() {
  const Expr b = dim("b");
  const Expr n = dim("n");
  const Expr k = dim("k");
  const Expr o = dim("o");
  const Expr i = dim("i");
  const Expr bias = dim("bias");
  const Expr u = dim("u");
  const Expr e = dim("e");
  const Expr es = dim("es");
  const Expr written = b * select(less(u, 1), n * o, u);
  return {
      .name = "convolution",
      .semantics = "o[b,n,o] = sum_k x[b,window(o,k)] * w[n,k] (+ bias[n])",
      .dims = {{"b", "samples"},
               {"n", "output channels"},
               {"k", "taps times input channels of a group"},
               {"o", "output positions"},
               {"i", "input elements of a sample"},
               {"bias", "1 if a bias is added", 0},
               {"u", "output elements of a sample, if transposed", 0},
               {"e", "arithmetic of a fused epilogue, per output", 0},
               {"es", "special operations of the epilogue, per output", 0}},
      .operands =
          {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = b * i},
           {.name = "w", .access = Access::kRead, .role = Role::kWeight, .touched = n * k},
           {.name = "o", .access = Access::kWrite, .role = Role::kActivation, .touched = written},
           {.name = "bias",
            .access = Access::kRead,
            .role = Role::kWeight,
            .touched = n,
            .optional = true},
           {.name = "state",
            .access = Access::kReadWrite,
            .role = Role::kState,
            .touched = b * n * (k - 1),
            .optional = true},
           {.name = "residual",
            .access = Access::kRead,
            .role = Role::kActivation,
            .touched = written,
            .optional = true}},
      .engine = Engine::kMatrix,
      .flops = 2 * b * n * k * o * flop(),
      .vector_flops = (bias * b * n * o + e * written) * flop(),
      .special_ops = es * written,
      .source = "definition: one multiply and one add per (b, n, o, k)",
  };
}

}  // namespace mansard::ir::ops
