#include "ir/op_def.hpp"
#include "ir/ops/dims.hpp"

namespace mansard::ir::ops {

/// Absorbed form: query and output live in the latent space, so that keys and values are the cache
/// itself.
OpDef mla_attention() {
  const Expr b = dim("b");
  const Expr h = dim("h");
  const Expr q = dim("q");
  const Expr t = dim("t");
  const Expr p = dim("p");
  const Expr r = dim("r");
  const Expr d = dim("d");
  return {
      .name = "mla_attention",
      .semantics = "o[b,h,q,:r] = sum_t softmax_t(q[b,h,q,:] . cache[b,t,:]) * cache[b,t,:r]",
      .dims = {{"b", "sequences"},
               {"h", "heads"},
               {"q", "new tokens of a sequence"},
               {"t", "keys read of a sequence"},
               {"p", "query-key pairs of a head and sequence"},
               {"r", "latent rank"},
               {"d", "rotary dim"}},
      .operands = {{.name = "q",
                    .access = Access::kRead,
                    .role = Role::kActivation,
                    .touched = b * h * q * (r + d)},
                   {.name = "cache",
                    .access = Access::kRead,
                    .role = Role::kKvCache,
                    .touched = b * t * (r + d)},
                   {.name = "o",
                    .access = Access::kWrite,
                    .role = Role::kActivation,
                    .touched = b * h * q * r}},
      .engine = Engine::kMatrix,
      .flops = 2 * b * h * p * (2 * r + d) * flop(),
      .vector_flops = b * h * (4 * p + q * r) * flop(),
      .special_ops = b * h * p,
      .source =
          "DeepSeek-V2 (arXiv 2405.04434, section 2.1, weights absorbed): keys r + d wide, values "
          "r wide, one cache for all heads",
  };
}

}  // namespace mansard::ir::ops
