#include "ir/op_def.hpp"

#include <algorithm>

namespace mansard::ir {

namespace ops {
#define OP(kind) OpDef kind();
#include "ir/ops/ops.def"
#undef OP
}  // namespace ops

ExprPool& definitions() {
  static ExprPool pool;
  return pool;
}

const std::vector<OpDef>& op_registry() {
  static const std::vector<OpDef> registry = {
#define OP(kind) ops::kind(),
#include "ir/ops/ops.def"
#undef OP
  };
  return registry;
}

const OpDef* find_op(std::string_view name) {
  const std::vector<OpDef>& registry = op_registry();
  const auto found = std::ranges::lower_bound(registry, name, {}, &OpDef::name);
  return found != registry.end() && found->name == name ? &*found : nullptr;
}

}  // namespace mansard::ir
