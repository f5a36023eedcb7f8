#include <charconv>
#include <string_view>

#include "model/estimate/estimators.hpp"
#include "model/estimate/pieces.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

double fact(const OpContext& context, std::string_view name, double otherwise) {
  const std::string_view text = context.attribute(name);
  double value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// An op of another kind that stands for this one: same tensors and demand under other names.
class Stand {
 public:
  Stand(const OpContext& context, std::string_view kind,
        std::vector<std::pair<std::string, Expr>> dims,
        const std::vector<std::pair<std::string_view, std::string_view>>& operands)
      : op_{.name = context.op.name, .def = ir::find_op(kind), .block = context.op.block},
        demand_(context.demand) {
    for (auto& [name, value] : dims) {
      op_.dims.emplace(std::move(name), value);
    }
    demand_.operands.clear();
    for (const ir::OperandDef& def : op_.def->operands) {
      std::optional<ir::TensorId> tensor;
      for (const auto& [to, from] : operands) {
        const OperandDemand* source = to == def.name ? context.operand(from) : nullptr;
        if (source != nullptr) {
          tensor = source->tensor;
          demand_.operands.push_back(*source);
          demand_.operands.back().def = &def;
        }
      }
      op_.operands.push_back(tensor);
    }
  }

  [[nodiscard]] OpContext context(const OpContext& of, std::optional<Rate> rate) const {
    return {.graph = of.graph,
            .op = op_,
            .demand = demand_,
            .capacities = of.capacities,
            .parameters = of.parameters,
            .options = of.options,
            .rate = std::move(rate),
            .main = of.main};
  }

 private:
  ir::Op op_;
  Demand demand_;
};

/// The interval of a class that was fitted on other ops is wider by this factor each way.
constexpr double kUnfitted = 1.25;
constexpr double kLine = 16;  ///< Bytes of channels that the engine loads at once.

void complete(const OpContext& context, OpEstimate& estimate) {
  if (!estimate.below) {
    estimate.below = context.parameter("interval.low");
    estimate.above = context.parameter("interval.high");
  }
  estimate.below = kUnfitted * estimate.below;
  estimate.above = kUnfitted * estimate.above;
}

/// Each output channel reads one input channel: no operand is shared, so that the matrix engine has
/// nothing to reuse. A stream of inputs and outputs with k multiply-adds an output on the vector
/// engine.
OpEstimate depthwise(const OpContext& context) {
  std::optional<Rate> rate = context.rate;
  if (auto vector = context.capacities.elementwise(context.dtype("x"))) {
    rate = *vector;
  }
  const Stand stand(context, "elementwise",
                    {{"n", context.dim("b") * context.dim("n") * context.dim("o")},
                     {"i", context.dim("b") * context.dim("i")},
                     {"a", context.pool().constant(0)}},
                    {{"x", "x"}, {"o", "o"}, {"y", "w"}, {"z", "bias"}});
  const OpContext as_stream = stand.context(context, rate);
  OpEstimate result = rows(as_stream);
  complete(as_stream, result);
  return result;
}

/// Channels of a group, padded to what the engine loads at once (cuDNN pads 3 channels to 8 of
/// fp16).
Expr padded_depth(const OpContext& context) {
  const double taps = fact(context, "taps", 1);
  const double aligned = kLine * 8 / context.dtype("x").bits;
  const Expr channels = context.dim("k") / taps;
  return taps * aligned * ir::ceil_div(channels, aligned);
}

}  // namespace

OpEstimate convolution(const OpContext& context) {
  const double groups = fact(context, "groups", 0);
  const Expr depth = context.dim("k") / fact(context, "taps", 1);
  // A causal convolution of a language model is depthwise and states no groups.
  const bool one_channel = depth.is_constant() && depth.constant() <= 1;
  if (groups == 0 || (groups > 1 && one_channel)) {
    return depthwise(context);
  }
  const Stand stand(context, "matmul",
                    {{"b", context.pool().constant(groups)},
                     {"m", context.dim("b") * context.dim("o")},
                     {"n", context.dim("n") / groups},
                     {"k", padded_depth(context)}},
                    {{"a", "x"}, {"w", "w"}, {"c", "o"}, {"bias", "bias"}});
  const OpContext as_matmul = stand.context(context, context.rate);
  OpEstimate result = matmul(as_matmul);
  complete(as_matmul, result);
  return result;
}

OpEstimate recurrent(const OpContext& context) {
  const Expr gates = context.dim("g") * context.dim("h");
  const Expr directions = context.dim("d");
  const Expr steps = context.dim("t");
  const Stand all(
      context, "matmul",
      {{"b", directions}, {"m", steps * context.dim("b")}, {"n", gates}, {"k", context.dim("i")}},
      {{"a", "x"}, {"w", "w"}, {"c", "o"}, {"bias", "bias"}});
  const Stand one(
      context, "matmul",
      {{"b", directions}, {"m", context.dim("b")}, {"n", gates}, {"k", context.dim("h")}},
      {{"a", "last"}, {"w", "r"}, {"c", "last"}, {"bias", "bias"}});
  const OpContext inputs = all.context(context, context.rate);
  const OpContext step = one.context(context, context.rate);
  OpEstimate first = matmul(inputs);
  const OpEstimate each = matmul(step);
  OpEstimate result{.time = first.time + Typed<Seconds>(steps * each.time.expr()),
                    .terms = {{"inputs", first.time, {}},
                              {"steps", Typed<Seconds>(steps * each.time.expr()), {}}},
                    .launches = first.launches + steps * each.launches,
                    .below = first.below,
                    .above = first.above};
  complete(inputs, result);
  return result;
}

}  // namespace mansard::model::estimators
