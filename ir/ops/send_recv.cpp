#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// Point to point: a pipeline stage hands its activations to the next (`o` is on
/// another device, unless one graph shows both).
OpDef send_recv() {
  const Expr n = dim("n");
  return {
      .name = "send_recv",
      .semantics = "o[n] on the receiver = x[n] of the sender",
      .dims = {{"n", "elements of the message"}, {"p", "devices: the two ends", 2}},
      .operands = {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = n},
                   {.name = "o",
                    .access = Access::kWrite,
                    .role = Role::kActivation,
                    .touched = n,
                    .optional = true}},
      .link_elements = n,
      .source = "definition: every element crosses the link once",
  };
}

}  // namespace mansard::ir::ops
