#include "model/estimate/attention.hpp"

#include <fmt/format.h>

#include "model/estimate/estimators.hpp"
#include "model/estimate/pieces.hpp"

namespace mansard::model::estimators {
namespace {

/// Keys and values of unlike widths are the latent attention of DeepSeek in its unabsorbed form.
bool is_latent(const AttentionShape& shape) {
  return shape.key_dim.is_constant() && shape.value_dim.is_constant() &&
         shape.key_dim.constant() != shape.value_dim.constant();
}

AttentionShape shape_of(const OpContext& context) {
  AttentionShape shape{.sequences = context.dim("b"),
                       .heads = context.dim("h"),
                       .queries = context.dim("q"),
                       .keys = context.dim("t"),
                       .pairs = context.dim("p")};
  const bool absorbed = context.op.def->name == "mla_attention";
  if (absorbed) {
    shape.kv_heads = context.pool().constant(1);
    shape.value_dim = context.dim("r");
    shape.key_dim = context.dim("r") + context.dim("d");
  } else {
    shape.kv_heads = context.dim("g");
    shape.key_dim = context.dim("d");
    shape.value_dim = context.dim("v");
  }
  shape.variant =
      fmt::format("{}.{}.{}", absorbed || is_latent(shape) ? ".mla" : "",
                  context.dtype(absorbed ? "cache" : "k").name, context.dtype("q").name);
  return shape;
}

}  // namespace

OpEstimate attention(const OpContext& context) {
  const AttentionShape shape = shape_of(context);
  const std::string decode = "decode" + shape.variant;
  const auto chip = chip_of(context);
  if (chip && context.parameters.has("attention", decode, "split_efficiency")) {
    return split_attention(context, shape, *chip);
  }
  return choose(ir::less(shape.queries, 2), decode_attention(context, shape),
                prefill_attention(context, shape));
}

}  // namespace mansard::model::estimators
