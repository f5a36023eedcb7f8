#include <numeric>

#include "model/estimate/attention.hpp"
#include "model/estimate/pieces.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

constexpr double kNever = 1e9;
constexpr double kFull = 0.8;

constexpr double kQueries = 64;  ///< Queries of a block.
constexpr double kPlaces = 2;    ///< Blocks of a processor.
constexpr std::size_t kMostSplits = 128;
constexpr double kTile =
    128.0 * 128.0;  ///< Keys times head size of the tile that `tile` is quoted at.
constexpr double kPartialBytes = 8;

/// The share of places that `splits` parts keep busy; 0 of a number of splits that cuts no finer
/// than one fewer.
Expr busy_share(Expr splits, Expr blocks, Expr tiles, Expr places) {
  const Expr fewer = ir::ceil_div(tiles, ir::max(splits - 1, 1));
  const Expr is_finer = ir::less(ir::ceil_div(tiles, splits), fewer) + ir::less(splits, 2);
  const Expr most = ir::min(ir::min(tiles, places), static_cast<double>(kMostSplits));
  const Expr waves = blocks * splits / places;
  const Expr is_allowed = is_finer * (1 - ir::less(most, splits));
  return is_allowed * waves / ir::ceil_div(blocks * splits, places);
}

const ir::Table& split_table(ir::ExprPool& pool) {
  std::vector<double> splits(kMostSplits);
  std::iota(splits.begin(), splits.end(), 1.0);
  return pool.add_table("attention.splits", {"attention.split"}, std::move(splits));
}

/// The fewest splits that reach `efficiency` of the best share.
Expr fewest_splits(Expr blocks, Expr tiles, Expr places, Expr efficiency) {
  ir::ExprPool& pool = blocks.pool();
  const ir::Table& table = split_table(pool);
  const Expr s = pool.symbol("attention.split");
  const Expr b = pool.symbol("attention.blocks");
  const Expr n = pool.symbol("attention.tiles");
  const Expr p = pool.symbol("attention.places");
  const Expr least = pool.symbol("attention.least_share");
  const Expr share = busy_share(s, b, n, p);
  const ir::Function& share_of = pool.define("attention.busy_share", {s, b, n, p}, share);
  const ir::Function& splits_of =
      pool.define("attention.splits", {s, b, n, p, least},
                  ir::select(ir::less(share, least), pool.constant(kNever), s));
  const Expr best = pool.reduce(ir::Reduction::kMax, table, share_of, {blocks, tiles, places});
  return pool.reduce(ir::Reduction::kMin, table, splits_of,
                     {blocks, tiles, places, efficiency * best});
}

class Split {
 public:
  Split(const OpContext& context, const AttentionShape& shape, const Chip& chip)
      : context_(context), shape_(shape), chip_(chip), variant_("decode" + shape.variant) {
    const Expr is_decode = ir::less(shape.queries, 2);
    heads_ = ir::select(is_decode, shape.kv_heads, shape.heads);
    queries_ = ir::select(is_decode, shape.heads / shape.kv_heads, shape.queries);
    blocks_ = shape.sequences * heads_ * ir::ceil_div(queries_, kQueries);
    tiles_ = ir::ceil_div(shape.keys, tile_keys());
    splits_ = splits();
  }

  Expr splits() const {
    const Expr places = kPlaces * chip_.sms;
    const Expr chosen = fewest_splits(blocks_, tiles_, places, parameter("split_efficiency"));
    return ir::select(ir::less(blocks_, kFull * places), chosen, context_.pool().constant(1));
  }
  Expr is_split() const { return ir::less(context_.pool().constant(1), splits_); }

  OpEstimate estimate() const {
    const Typed<Seconds> start(parameter("start", kSecond));
    const Expr share = ir::select(is_split(), parameter("main"), parameter("whole_main"));
    const Typed<Seconds> memory(context_.demand.bytes.expr() / (share * context_.main.expr()));
    const Typed<Seconds> latency = latency_time();
    const Typed<Seconds> reduce = reduce_time();
    return {.time = start + overlap(latency, memory, parameter("overlap")) + reduce,
            .terms = {{"start", start, {}},
                      {"memory", memory, {}},
                      {"latency", latency, {}},
                      {"reduce", reduce, {}}},
            .launches = parameter("launches") + is_split(),
            .calls = parameter("launches"),
            .below = parameter("interval.low"),
            .above = parameter("interval.high")};
  }

 private:
  Expr parameter(std::string_view name, const Dimension& dimension = kNumber) const {
    return context_.parameter_of(variant_, name, dimension);
  }

  /// 256 keys of heads up to 64, 128 up to 128, 64 of larger ones.
  Expr tile_keys() const {
    const auto keys = [&](double n) { return context_.pool().constant(n); };
    const auto exceeds = [&](double d) { return ir::less(keys(d), shape_.key_dim); };
    return ir::select(exceeds(64), ir::select(exceeds(128), keys(64), keys(128)), keys(256));
  }

  Typed<Seconds> latency_time() const {
    const Expr blocks = blocks_ * splits_;
    const Expr waves = ir::ceil_div(blocks, kPlaces * chip_.sms);
    const Expr fill =
        ir::select(is_split(), parameter("fill", kSecond), parameter("whole_fill", kSecond));
    const Expr tile = parameter("tile", kSecond) * tile_keys() * shape_.key_dim / kTile;
    const Expr one = context_.pool().constant(1);
    const Expr crowding = ir::select(ir::less(chip_.sms, blocks), one, parameter("solo"));
    return Typed<Seconds>(waves * (fill + ir::ceil_div(tiles_, splits_) * tile) * crowding);
  }

  Typed<Seconds> reduce_time() const {
    const Expr partial = shape_.sequences * shape_.heads * shape_.queries * splits_ *
                         (shape_.value_dim + 2) * context_.pool().constant(kPartialBytes, kByte);
    const Expr time =
        parameter("reduce", kSecond) + partial / (parameter("reduce_rate") * context_.main.expr());
    return Typed<Seconds>(ir::select(is_split(), time, context_.pool().constant(0, kSecond)));
  }

  const OpContext& context_;
  const AttentionShape& shape_;
  Chip chip_;
  std::string variant_;
  Expr heads_;
  Expr queries_;
  Expr blocks_;
  Expr tiles_;
  Expr splits_;
};

}  // namespace

OpEstimate split_attention(const OpContext& context, const AttentionShape& shape,
                           const Chip& chip) {
  const Split split(context, shape, chip);
  const Expr is_decode = ir::less(shape.queries, 2);
  return choose(ir::max(is_decode, split.is_split()), split.estimate(),
                prefill_attention(context, shape));
}

}  // namespace mansard::model::estimators
