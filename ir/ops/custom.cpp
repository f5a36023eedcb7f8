#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"
#include "ir/ops/many_inputs.hpp"

namespace mansard::ir::ops {

/// An op of a file whose meaning is not known: totals of a graph that has one are partial.
OpDef custom() {
  return {
      .name = "custom",
      .semantics = "o[n] = unknown(x, y, ...)",
      .dims = with_more_inputs({{"n", "elements written"}, {"i", "elements read"}}),
      .operands = many_inputs(),
      .source = "bytes only: what it computes is not known",
  };
}

}  // namespace mansard::ir::ops
