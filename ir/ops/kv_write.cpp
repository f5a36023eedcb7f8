#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// Appends the new keys and values (or latents) to the cache.
OpDef kv_write() {
  const Expr n = dim("n");
  return {
      .name = "kv_write",
      .semantics = "cache[position] = x",
      .dims = {{"n", "elements appended"}},
      .operands =
          {{.name = "x", .access = Access::kRead, .role = Role::kActivation, .touched = n},
           {.name = "cache", .access = Access::kWrite, .role = Role::kKvCache, .touched = n}},
      .source = "definition: each new element is read once and written once",
  };
}

}  // namespace mansard::ir::ops
