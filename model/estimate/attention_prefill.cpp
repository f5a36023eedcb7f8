#include "model/estimate/attention.hpp"
#include "model/estimate/pieces.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

constexpr double kTile = 128;  ///< Queries and keys of a tile of scores.

/// Builds the terms of one prefill op.
class Prefill {
 public:
  Prefill(const OpContext& context, const AttentionShape& shape, const Rate& rate)
      : context_(context), shape_(shape), rate_(rate), variant_("prefill" + shape.variant) {}

  OpEstimate estimate() const {
    const Typed<Seconds> start(parameter("start", kSecond));
    const Typed<Seconds> memory = context_.demand.bytes / context_.main;
    const Expr work = tiles_of_work();
    const Typed<Seconds> matrix(work * matrix_time());
    const Typed<Seconds> special(work * special_time());
    const Typed<Seconds> power = power_time();
    const Typed<Seconds> copy = output_copy();
    const Typed<Seconds> time = max(start + max(memory, matrix + special), power) + copy;
    return {.time = time,
            .terms = {{"start", start, {}},
                      {"memory", memory, {}},
                      {"matrix", matrix, {}},
                      {"special", special, {}},
                      {"power", power, {}},
                      {"copy", copy, {}}},
            .launches = parameter("launches"),
            .calls = parameter("launches"),
            .below = parameter("interval.low"),
            .above = parameter("interval.high")};
  }

 private:
  Expr parameter(std::string_view name, const Dimension& dimension = kNumber) const {
    return context_.parameter_of(variant_, name, dimension);
  }

  Expr query_tiles() const { return ir::ceil_div(shape_.queries, kTile); }
  Expr key_tiles() const { return ir::ceil_div(shape_.keys, kTile); }

  /// 1 if fewer pairs than `most` are computed.
  Expr has_fewer_pairs(Expr most) const { return ir::less(shape_.pairs, most); }
  /// Pairs of a causal mask without a window.
  Expr causal_pairs() const {
    return shape_.queries * shape_.keys - shape_.queries * (shape_.queries - 1) / 2;
  }

  /// Pairs of tiles with any pair of a causal mask, or of a window.
  Expr tile_pairs() const {
    const Expr t = query_tiles();
    const Expr triangle = t * key_tiles() - t * (t - 1) / 2;
    const Expr band = shape_.pairs / (kTile * kTile) + t;
    return ir::select(has_fewer_pairs(causal_pairs()), ir::min(triangle, band), triangle);
  }

  /// Tiles of keys that the longest row of tiles walks.
  Expr longest_row() const {
    const Expr band = ir::ceil_div(shape_.pairs / shape_.queries, kTile) + 1;
    return ir::select(has_fewer_pairs(causal_pairs()), ir::min(key_tiles(), band), key_tiles());
  }

  /// Tiles of scores that the busiest processor computes, one after another. Without processors:
  /// all tiles.
  Expr tiles_of_work() const {
    const Expr rows = shape_.sequences * shape_.heads;
    const auto chip = chip_of(context_);
    if (!chip) {
      return rows * tile_pairs();
    }
    const Expr turn = parameter("turn");
    const Expr each = turn + parameter("diagonal");
    const Expr tiles = rows * query_tiles();
    const Expr longest = longest_row() + each;
    const Expr spread =
        rows * (tile_pairs() + query_tiles() * each) / chip->sms + parameter("tail") * longest;
    const Expr causal = ir::select(ir::less(chip->sms, tiles), ir::max(longest, spread), longest);
    const Expr full = ir::ceil_div(tiles, chip->sms) * (key_tiles() + turn);
    return ir::select(has_fewer_pairs(shape_.queries * shape_.keys), causal, full);
  }

  Expr processors() const {
    const auto chip = chip_of(context_);
    return chip ? chip->sms : context_.pool().constant(1);
  }

  /// One tile of scores and its product with the values, on one processor.
  Expr matrix_time() const {
    const Expr flops =
        2 * kTile * kTile * (shape_.key_dim + shape_.value_dim) * context_.pool().unit(kFlop);
    return flops * processors() / (parameter("matrix") * rate_.peak.expr());
  }

  Expr special_time() const {
    const Expr rate = context_.capacities.known("special");
    return rate ? kTile * kTile * processors() / (parameter("special") * rate)
                : context_.pool().constant(0, kSecond);
  }

  /// Time in which the power cap lets the contractions' energy through.
  Typed<Seconds> power_time() const {
    const Expr power = dynamic_power(context_);
    return power ? Typed<Seconds>(context_.demand.flops.expr() *
                                  parameter("energy", kJoule - kFlop) / power)
                 : no_time(context_);
  }

  /// A chain of ops first copies the output to the layout that the next matmul reads.
  Typed<Seconds> output_copy() const {
    if (!context_.options.chained) {
      return no_time(context_);
    }
    const Expr elements = shape_.sequences * shape_.heads * shape_.queries * shape_.value_dim;
    const Typed<Seconds> copy = Typed<Seconds>(parameter("copy.start", kSecond)) +
                                cycles_time(context_, elements, parameter("copy.issue", kCycle));
    return Typed<Seconds>(parameter("copy.launches") * copy.expr());
  }

  const OpContext& context_;
  const AttentionShape& shape_;
  const Rate& rate_;
  std::string variant_;
};

}  // namespace

OpEstimate prefill_attention(const OpContext& context, const AttentionShape& shape) {
  return context.rate ? Prefill(context, shape, *context.rate).estimate()
                      : decode_attention(context, shape);
}

}  // namespace mansard::model::estimators
