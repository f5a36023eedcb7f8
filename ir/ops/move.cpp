#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"
#include "ir/ops/many_inputs.hpp"

namespace mansard::ir::ops {

/// Transposes, concatenations, slices, gathers, pads: elements change place, nothing is computed.
OpDef move() {
  return {
      .name = "move",
      .semantics = "o[n] = x[place(n)], y[place(n)], ...",
      .dims = with_more_inputs({{"n", "elements written"}, {"i", "elements read"}}),
      .operands = many_inputs(),
      .source = "definition: data movement does no arithmetic",
  };
}

}  // namespace mansard::ir::ops
