#include "model/estimate/attention.hpp"
#include "model/estimate/pieces.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

constexpr double kTileKeys = 128;
constexpr double kTileDim =
    128;  ///< Head size that `tile` is quoted at; half of the time does not depend on it.
constexpr double kUnsplitTiles = 4;  ///< Sequences of so few tiles are not split.
constexpr double kMatrixRows =
    16;  ///< Query heads of a group that one pass of the matrix engine takes.
constexpr double kPartialBytes = 8;  ///< An fp32 element of a partial result, written and read.

/// Builds the terms of one decode op.
class Decode {
 public:
  Decode(const OpContext& context, const AttentionShape& shape)
      : context_(context), shape_(shape), variant_("decode" + shape.variant) {}

  OpEstimate estimate() const {
    const Typed<Seconds> start(parameter("start", kSecond));
    const Typed<Seconds> memory(context_.demand.bytes.expr() /
                                (parameter("main") * context_.main.expr()));
    const auto chip = chip_of(context_);
    if (!chip) {
      return finish(start + memory, {{"start", start, {}}, {"memory", memory, {}}},
                    context_.pool().constant(0));
    }
    const Expr parts = splits(*chip);
    const Typed<Seconds> latency = latency_time(*chip, parts);
    const Typed<Seconds> reduce = reduce_time(parts);
    return finish(start + overlap(latency, memory, parameter("overlap")) + reduce,
                  {{"start", start, {}},
                   {"memory", memory, {}},
                   {"latency", latency, {}},
                   {"reduce", reduce, {}}},
                  ir::less(context_.pool().constant(1), parts));
  }

 private:
  Expr parameter(std::string_view name, const Dimension& dimension = kNumber) const {
    return context_.parameter_of(variant_, name, dimension);
  }

  OpEstimate finish(Typed<Seconds> time, std::vector<Term> terms, Expr reductions) const {
    const Expr is_small = ir::less(context_.demand.bytes.expr(), parameter("small", kByte));
    const auto factor = [&](std::string_view small, std::string_view large) {
      return ir::select(is_small, parameter(small), parameter(large));
    };
    return {.time = time,
            .terms = std::move(terms),
            .launches = parameter("launches") + reductions,
            .calls = parameter("launches"),
            .below = factor("interval.small.low", "interval.low"),
            .above = factor("interval.small.high", "interval.high")};
  }

  Expr tiles() const { return ir::ceil_div(shape_.keys, kTileKeys); }

  Expr splits(const Chip& chip) const {
    const Expr groups = shape_.sequences * shape_.kv_heads;
    const Expr wanted = ir::ceil_div(2 * chip.sms, groups);
    const Expr most = ir::min(parameter("max_split"), tiles());
    const Expr one = context_.pool().constant(1);
    return ir::select(ir::less(tiles(), kUnsplitTiles + 1), one,
                      ir::max(ir::min(wanted, most), one));
  }

  Typed<Seconds> latency_time(const Chip& chip, Expr parts) const {
    const Expr rows = ir::ceil_div(shape_.heads / shape_.kv_heads, kMatrixRows);
    const Expr passes = 1 + parameter("mma") * ir::max(rows - 1, 0) / 4;
    const Expr width = 0.5 + shape_.key_dim / (2 * kTileDim);
    const Expr walk = parameter("tile", kSecond) * ir::ceil_div(tiles(), parts) * width * passes;
    const Expr blocks = shape_.sequences * shape_.kv_heads * parts;
    const Expr turns = blocks / (chip.sms * parameter("resident"));
    return Typed<Seconds>(ir::max(walk, turns * (parameter("fill", kSecond) + walk)));
  }

  Typed<Seconds> reduce_time(Expr parts) const {
    const Expr partial = shape_.sequences * shape_.heads * parts * (shape_.value_dim + 2) *
                         context_.pool().constant(kPartialBytes, kByte);
    const Expr time =
        parameter("reduce", kSecond) + partial / (parameter("reduce_rate") * context_.main.expr());
    return Typed<Seconds>(
        ir::select(ir::less(parts, 2), context_.pool().constant(0, kSecond), time));
  }

  const OpContext& context_;
  const AttentionShape& shape_;
  std::string variant_;
};

}  // namespace

OpEstimate decode_attention(const OpContext& context, const AttentionShape& shape) {
  return Decode(context, shape).estimate();
}

}  // namespace mansard::model::estimators
