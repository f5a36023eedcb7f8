#include <utility>

#include <fmt/format.h>

#include "model/estimate/matmul.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

constexpr double kSlope = 0.125;   ///< Of (1 + x)^(1/8) at 0.
constexpr double kBend = 0.0345;   ///< So that it meets 2^(1/8) at 1.
constexpr double kShort = 6e-6;    ///< Seconds; shorter matmuls are a regime of their own.
constexpr double kLeastSteps = 4;  ///< Over K, of a part.
constexpr double kMostStages = 16;
constexpr double kPartial = 4;      ///< Bytes of an fp32 partial sum.
constexpr double kLeastTileN = 64;  ///< Tiles so narrow may be mostly padding.
constexpr double kFewRows = 32;
constexpr double kMostBlocks = 6;  ///< Of a processor, however small their tiles.
constexpr double kPenalty =
    1e3;  ///< Seconds; a kernel not considered is taken only where all are not.

/// A kernel: a tile and how many parts K is split into.
struct Kernel {
  Expr n;
  Expr m;
  Expr rows;    ///< Of operands, that one processor loads.
  Expr splits;  ///< 1 or 0.
};

struct Times {
  Expr compute;
  Expr memory;
  Expr exposed;  ///< The part of the lesser of the two that does not hide.
  Expr reduce;
  Expr hot;    ///< What the power cap adds.
  Expr total;  ///< With the start.
  Expr is_considered;
};

/// sqrt(x / y) - 1 as a quotient, within 0.03 % on [1, 2.2]: the root's [2/2] Pade form at 1,
/// (1 + 10 q + 5 q^2) / (5 + 10 q + q^2).
std::pair<Expr, Expr> near_root_above_1(Expr x, Expr y) {
  const Expr xx = x * x;
  const Expr yy = y * y;
  return {4 * (xx - yy), xx + 10 * (x * y) + 5 * yy};
}

/// (a^8 + b^8)^(1/8) within 0.2 %.
Expr near_norm(Expr a, Expr b) {
  const Expr greater = ir::max(a, b);
  const Expr ratio = ir::min(a, b) / greater;
  const Expr square = ratio * ratio;
  const Expr eighth = square * square * (square * square);
  return greater * (1 + eighth * (kSlope - kBend * eighth));
}

class Tiling {
 public:
  Tiling(const OpContext& context, const MatmulShape& shape, const KernelKind& kind)
      : context_(context),
        shape_(shape),
        chip_(kind.chip),
        rate_(kind.rate),
        is_aligned_(kind.alignment == Alignment::k16) {
    variant_ = context.variant();
    if (!is_aligned_) {
      variant_ = kind.alignment == Alignment::k4 ? "unaligned.a4" : "unaligned.a2";
    } else if (kind.is_batched) {
      variant_ += ".batched";
    }
    element_ = context.pool().constant(context.dtype("a").bits / 8, kByte);
    least_m_ = least_tile_m(tile_table(context, kind));
  }

  Expr parameter(std::string_view name, const Dimension& dimension = kNumber) const {
    return context_.parameter_of(variant_, name, dimension);
  }
  const std::string& variant() const { return variant_; }

  /// A factor of the interval: of the regime that the times are in, short ("launch"), bound by
  /// memory or by the engine.
  Expr interval(const Times& times, std::string_view side) const {
    const auto of = [&](std::string_view regime) {
      return parameter(fmt::format("interval.{}.{}", regime, side));
    };
    const Expr longer =
        ir::select(ir::less(times.compute, times.memory), of("memory"), of("engine"));
    return ir::select(ir::less(times.total, kShort), of("launch"), longer);
  }

  Times times(const Kernel& kernel) const {
    const Expr unsplit =
        ir::ceil_div(shape_.m, kernel.m) * ir::ceil_div(shape_.n, kernel.n) * shape_.batch;
    const Expr parts = parts_of(unsplit);
    const Expr split = ir::select(kernel.splits, parts, one());
    const Expr tiles = unsplit * split;
    Times t;
    const Expr waves = ir::ceil_div(tiles, chip_.sms);
    const Expr steps = ir::ceil_div(shape_.k, split * step_elements());
    t.compute = compute_time(kernel, tiles, steps);
    t.memory = memory_time(tiles);
    const Expr open = ir::min(
        parameter("exposed") + parameter("fill") * ir::min(stages(kernel) / (steps * waves), 1), 1);
    t.exposed = open * ir::min(t.compute, t.memory);
    const Expr body = ir::max(t.compute, t.memory) + t.exposed;
    t.reduce = reduce_time(split);
    const Expr start = parameter("start", kSecond);
    t.hot = heat(body, t.compute, start + t.reduce + body);
    t.total = start + t.reduce + body + t.hot;
    t.is_considered = is_considered(kernel, unsplit, parts);
    return t;
  }

 private:
  Expr one() const { return context_.pool().constant(1); }
  Expr line() const { return parameter("line", kByte); }
  Expr step_elements() const { return line() / element_; }
  /// Steps over the whole of K.
  Expr depth() const { return shape_.k * element_ / line(); }

  /// Parts into which K is split so that no processor idles, each of at least 4 steps.
  Expr parts_of(Expr unsplit) const {
    const Expr idle = ir::floor_div(chip_.sms, unsplit);
    const Expr filled = ir::min(ir::max(idle, 1), parameter("max_split"));
    return ir::min(filled, ir::max(ir::floor(depth() / kLeastSteps), 1));
  }

  /// What a processor's blocks share of its engine and ports, or the chain of steps of blocks one
  /// after another, whichever is longer.
  Expr compute_time(const Kernel& kernel, Expr tiles, Expr steps) const {
    const Expr waves = ir::ceil_div(tiles, chip_.sms);
    const Expr rounds = ir::ceil_div(tiles, chip_.sms * blocks(kernel));
    const Expr shared = step_time(kernel);
    const Expr alone = ir::max(shared, parameter("tick", kSecond));
    const Expr walk = walk_time(kernel);
    const Expr epilogue = parameter("epilogue", kSecond) * kernel.m * kernel.n;
    return ir::max(waves * (steps * (shared + walk) + epilogue),
                   rounds * (steps * (alone + walk) + parameter("prologue", kSecond) + epilogue));
  }

  /// Blocks that a processor holds at once: as many as have room for their accumulators.
  Expr blocks(const Kernel& kernel) const {
    const Expr room = ir::floor(parameter("resident") / (kernel.m * kernel.n));
    return ir::min(ir::max(room, 1), kMostBlocks);
  }

  /// Operand rows that a block loads. Copies of tensors fetch whole boxes, loads element by element
  /// leave the padding out.
  Expr loaded_rows(const Kernel& kernel) const {
    return is_aligned_ ? kernel.rows : ir::min(kernel.m, shape_.m) + ir::min(kernel.n, shape_.n);
  }

  Expr step_time(const Kernel& kernel) const {
    const Expr flops = 2 * kernel.m * kernel.n * step_elements() * context_.pool().unit(kFlop);
    const Expr mma = flops * chip_.sms / (parameter("matrix") * rate_.peak.expr());
    const Expr feed = loaded_rows(kernel) * line() / feed_rate();
    return near_norm(mma, feed);
  }

  /// Page walks of a step: rows that all processors read at once beyond the reach of the address
  /// cache cost one each. Older chips.
  Expr walk_time(const Kernel& kernel) const {
    if (!context_.parameters.has("matmul", variant_, "walk")) {
      return context_.pool().constant(0, kSecond);
    }
    const Expr rows_m = ir::min(shape_.m, chip_.sms * kernel.m);
    const Expr bands = ir::ceil_div(chip_.sms, ir::ceil_div(shape_.m, kernel.m));
    const Expr rows_n = ir::min(shape_.n, bands * kernel.n);
    const Expr spanned = (rows_m + rows_n) * shape_.k * element_;
    return share(spanned / parameter("reach", kByte) - 1) * kernel.rows *
           parameter("walk", kSecond);
  }

  Expr moved_bytes() const {
    const Expr local = shape_.inputs + shape_.outputs;
    const Expr capacity = context_.capacities.known_cache_capacity();
    const Expr miss = capacity ? share(2 * local / capacity - 1) : one();
    return shape_.weights + miss * shape_.inputs +
           ir::max(miss, parameter("write_back")) * shape_.outputs;
  }

  /// Full waves, and the last one: its blocks at work share what memory gives or are each as fast
  /// as their ports.
  Expr memory_time(Expr tiles) const {
    const Expr memory = 1 / (parameter("main") * context_.main.expr());  // A byte.
    const Expr port = 1 / feed_rate();
    const Expr full = ir::floor_div(tiles, chip_.sms) * chip_.sms;
    const Expr last = tiles - full;
    const Expr blocks =
        full * ir::max(memory, port / chip_.sms) + ir::max(last * memory, ir::min(last, 1) * port);
    const Expr time = moved_bytes() / tiles * blocks;
    return time + ir::min(time, parameter("ramp", kSecond));
  }

  /// Rate at which the last-level cache feeds one processor: in bytes per clock where it was
  /// fitted, else a share of the cache's bandwidth.
  Expr feed_rate() const {
    const Expr cache = context_.capacities.cache_figure("measured_bandwidth");
    if (!context_.parameters.has("matmul", variant_, "feed") && cache) {
      return parameter("feed_share") * cache / chip_.sms;
    }
    const bool fitted = context_.parameters.has("matmul", variant_, "feed");
    return parameter(fitted ? "feed" : "feed_else", kBytePerCycle) * chip_.clock;
  }

  /// K steps that shared memory holds.
  Expr deepest(const Kernel& kernel) const {
    const Expr capacity = context_.capacities.known("shared.capacity");
    const Expr room = capacity ? capacity - parameter("reserve", kByte) : parameter("room", kByte);
    return ir::floor(room / (kernel.rows * line()));
  }

  /// K steps in flight.
  Expr stages(const Kernel& kernel) const { return ir::min(deepest(kernel), kMostStages); }

  Expr reduce_time(Expr split) const {
    const Expr partial = shape_.m * shape_.n * shape_.batch * (split + 1) *
                         context_.pool().constant(kPartial, kByte);
    const Expr rate = parameter("reduce_rate") * context_.main.expr();
    const Expr time = parameter("reduce", kSecond) + partial * (1 / rate);
    return ir::select(ir::less(one(), split), time, context_.pool().constant(0, kSecond));
  }

  /// What the power cap adds to a body that uses the matrix engine for `used` of its time.
  Expr heat(Expr body, Expr used, Expr time) const {
    const Expr cap = context_.capacities.known("power.cap");
    if (!cap || !is_capped_alone(context_.options)) {
      return context_.pool().constant(0, kSecond);
    }
    const Expr idle = chip_.sms * chip_.clock * parameter("clock_energy", kJoule - kCycle) / cap;
    const Expr busy = rate_.peak.expr() * parameter("energy", kJoule - kFlop) / cap;
    // In one division: this is where a sweep's time goes.
    const auto [above, below] = near_root_above_1(ir::max(idle * body + busy * used, body), body);
    return above * used * time / (below * (time + parameter("warm_up", kSecond)));
  }

  Expr is_considered(const Kernel& kernel, Expr unsplit, Expr parts) const {
    const Expr is_deep = 1 - ir::less(depth(), parameter("deep"));
    const Expr yes = one();
    const auto all = [](Expr a, Expr b) { return a * b; };
    const Expr padded_m = all(1 - ir::less(kernel.m, 2 * shape_.m),
                              ir::less(ir::max(parameter("least_extent"), least_m_), kernel.m));
    const Expr padded_n = all(1 - ir::less(kernel.n, 2 * shape_.n),
                              ir::less(context_.pool().constant(kLeastTileN), kernel.n));
    const Expr idle = all(all(1 - kernel.splits, 1 - ir::less(chip_.sms, 2 * unsplit)),
                          all(is_deep, ir::less(yes, parts)));
    const Expr rows =
        all(all(ir::less(shape_.m, kFewRows + 1), ir::less(kernel.m, shape_.m)), is_deep);
    const Expr shallow = ir::less(deepest(kernel), parameter("min_stages"));
    const Expr small = ir::less(ir::min(kernel.m, kernel.n), parameter("least_extent")) +
                       ir::less(kernel.m * kernel.n, parameter("least_area"));
    return ir::less(padded_m + padded_n + idle + rows + shallow + small, 1);
  }

  const OpContext& context_;
  MatmulShape shape_;
  Chip chip_;
  Rate rate_;
  bool is_aligned_;
  std::string variant_;
  Expr element_;
  double least_m_ = 0;
};

/// The arguments of the functions that the table is reduced with.
MatmulShape formal_shape(ir::ExprPool& pool) {
  return {.batch = pool.symbol("matmul.b"),
          .m = pool.symbol("matmul.m"),
          .n = pool.symbol("matmul.n"),
          .k = pool.symbol("matmul.k"),
          .weights = pool.symbol("matmul.weights", kByte),
          .inputs = pool.symbol("matmul.inputs", kByte),
          .outputs = pool.symbol("matmul.outputs", kByte)};
}

std::vector<Expr> arguments_of(const MatmulShape& s) {
  return {s.batch, s.m, s.n, s.k, s.weights, s.inputs, s.outputs};
}

constexpr double kRadix = 4096;  ///< Tile extents are below it.

/// The function of that body; machines and regimes whose bodies differ get names of their own.
const ir::Function& define(ir::ExprPool& pool, const std::string& name,
                           const std::vector<Expr>& parameters, Expr body) {
  std::string unique = name;
  for (int i = 2;; ++i) {
    const ir::Function* found = pool.find_function(unique);
    if (found == nullptr) {
      return pool.define(unique, parameters, body);
    }
    if (found->body() == body) {
      return *found;
    }
    unique = fmt::format("{}.{}", name, i);
  }
}

/// The kernel that the library runs: the considered one of least time.
Kernel choose_kernel(const OpContext& context, const MatmulShape& shape, const KernelKind& kind) {
  ir::ExprPool& pool = context.pool();
  const ir::Table& table = tile_table(context, kind);
  const MatmulShape formal = formal_shape(pool);
  const Kernel kernel{pool.symbol("tile_n"), pool.symbol("tile_m"), pool.symbol("operand_rows"),
                      pool.symbol("splits")};
  const Tiling tiling(context, formal, kind);
  std::vector<Expr> parameters{kernel.n, kernel.m, kernel.rows, kernel.splits};
  const std::vector<Expr> formals = arguments_of(formal);
  parameters.insert(parameters.end(), formals.begin(), formals.end());
  const Times times = tiling.times(kernel);
  const ir::Function& time =
      define(pool, "matmul." + tiling.variant(), parameters,
             times.total + (1 - times.is_considered) * pool.constant(kPenalty, kSecond));
  const ir::Function& code =
      pool.define("matmul.kernel", parameters,
                  ((kernel.n * kRadix + kernel.m) * kRadix + kernel.rows) * 2 + kernel.splits);
  const Expr chosen = pool.reduce(ir::Reduction::kAtMin, table, time, arguments_of(shape), &code);
  const Expr shape_code = ir::floor_div(chosen, 2);
  const Expr extents = ir::floor_div(shape_code, kRadix);
  return {.n = ir::floor_div(extents, kRadix),
          .m = ir::mod(extents, kRadix),
          .rows = ir::mod(shape_code, kRadix),
          .splits = ir::mod(chosen, 2)};
}

}  // namespace

OpEstimate tiled_matmul(const OpContext& context, const MatmulShape& shape,
                        const KernelKind& kind) {
  const Tiling tiling(context, shape, kind);
  const Times times = tiling.times(choose_kernel(context, shape, kind));
  const auto term = [](std::string_view name, Expr time) {
    return Term{std::string(name), Typed<Seconds>(time), {}};
  };
  return {.time = Typed<Seconds>(times.total),
          .terms = {term("start", tiling.parameter("start", kSecond)), term("memory", times.memory),
                    term("matrix", times.compute), term("exposed", times.exposed),
                    term("reduce", times.reduce), term("power", times.hot)},
          .launches = context.parameter("launches"),
          .below = tiling.interval(times, "low"),
          .above = tiling.interval(times, "high")};
}

}  // namespace mansard::model::estimators
