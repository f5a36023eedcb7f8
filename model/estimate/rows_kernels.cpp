#include "model/estimate/rows.hpp"

namespace mansard::model::estimators {
namespace {

using ir::Expr;

constexpr double kOverlap = 4;        ///< Of issue and traffic.
constexpr double kGatherOverlap = 3;  ///< Of a gather's latency and traffic.
constexpr double kGatherRows = 16;    ///< Up to here a gather takes row after row.
constexpr double kVector = 4;     ///< Elements that a thread of PyTorch's reduction loads at once,
constexpr double kRows = 16;      ///< rows of its blocks,
constexpr double kThreads = 512;  ///< threads of its blocks,
constexpr double kManyValues = 256;  ///< values of a thread from which a block takes one row.
constexpr double kWarpRows = 32;     ///< Column sums are split over warps from here on,
constexpr double kBlockRows = 256;   ///< over blocks from here on.

/// What every kernel of this file has: its launches, and the interval by size.
class Kernel {
 public:
  explicit Kernel(const OpContext& context)
      : context_(context), launches_(context.parameter("launches")) {}

  Expr parameter(std::string_view name, const Dimension& dimension = kNumber) const {
    return context_.parameter(name, dimension);
  }
  Typed<Seconds> time(std::string_view name) const {
    return Typed<Seconds>(context_.parameter(name, kSecond));
  }
  Typed<Seconds> start() const { return Typed<Seconds>(launches_ * time("start").expr()); }

  /// An implementation may fuse an op away: no launches, no time.
  OpEstimate finish(Typed<Seconds> total, std::vector<Term> terms, Typed<Seconds> busy = {}) const {
    const Expr is_small = ir::less(context_.demand.bytes.expr(), parameter("small", kByte));
    return {
        .time = Typed<Seconds>(total.expr() * ir::min(launches_, 1)),
        .terms = std::move(terms),
        .launches = launches_,
        .calls = launches_ * parameter("calls"),
        .busy = busy,
        .below = ir::select(is_small, parameter("interval.small.low"), parameter("interval.low")),
        .above =
            ir::select(is_small, parameter("interval.small.high"), parameter("interval.high"))};
  }

 private:
  const OpContext& context_;
  Expr launches_;
};

constexpr double kColumnUnit = 1024;
constexpr double kFewRows = 4;

struct RowTimes {
  Typed<Seconds> chain;
  Typed<Seconds> issue;
  Typed<Seconds> traffic;
};

RowTimes row_times(const OpContext& context, const Kernel& kernel, Expr rows, Expr columns) {
  const auto chip = chip_of(context);
  const Expr zero = context.pool().constant(0);
  const Expr resident = chip ? chip->sms * kernel.parameter("resident") : zero;
  const Expr queued = ir::max(rows - resident, 0);
  const Expr wide = ir::max(columns - kernel.parameter("wide_from"), 0);
  const Expr cycles = kernel.parameter("row", kCycle) +
                      columns * kernel.parameter("element", kCycle) +
                      wide * kernel.parameter("wide", kCycle);
  const Expr column = ir::select(ir::less(rows, kFewRows + 1), kernel.time("column_alone").expr(),
                                 kernel.time("column").expr());
  return {.chain = Typed<Seconds>(column * columns / kColumnUnit),
          .issue = cycles_time(context, queued, cycles),
          .traffic = traffic_time(context)};
}

}  // namespace

OpEstimate row_kernel(const OpContext& context, Expr rows, Expr columns) {
  const Kernel kernel(context);
  const RowTimes t = row_times(context, kernel, rows, columns);
  return kernel.finish(kernel.start() + t.chain + max(t.issue, t.traffic),
                       {{"start", kernel.start(), {}},
                        {"chain", t.chain, {}},
                        {"issue", t.issue, {}},
                        {"memory", t.traffic, {}}},
                       t.issue);
}

OpEstimate softmax_kernel(const OpContext& context) {
  const Kernel kernel(context);
  const Expr rows = context.dim("r");
  const Expr columns = context.dim("c");
  const RowTimes t = row_times(context, kernel, rows, columns);
  const Typed<Seconds> warps =
      kernel.time("warp_fill") +
      cycles_time(context, rows * columns, kernel.parameter("narrow_element", kCycle));
  const Typed<Seconds> narrow =
      overlap(kernel.time("latency"), warps, context.pool().constant(kOverlap));
  const Expr is_wide = ir::less(kernel.parameter("narrow_columns"), columns);
  const auto pick = [&](Typed<Seconds> a, Typed<Seconds> b) {
    return Typed<Seconds>(ir::select(is_wide, a.expr(), b.expr()));
  };
  const Typed<Seconds> start = pick(kernel.start(), kernel.time("narrow_start"));
  const Typed<Seconds> body = pick(t.chain + max(t.issue, t.traffic), max(narrow, t.traffic));
  return kernel.finish(start + body,
                       {{"start", start, {}},
                        {"chain", pick(t.chain, kernel.time("latency")), {}},
                        {"issue", pick(t.issue, warps), {}},
                        {"memory", t.traffic, {}}},
                       pick(t.issue, warps));
}

namespace {

/// The greatest power of two up to x, of x >= 1.
Expr power_of_two_below(Expr x) {
  return ir::scale2(x.pool().constant(1), ir::exponent2(ir::max(x, 1)));
}

}  // namespace

OpEstimate row_sum_kernel(const OpContext& context, Expr rows, Expr columns) {
  const Kernel kernel(context);
  const Expr height = ir::min(power_of_two_below(rows), kRows);
  const Expr threads = ir::min(power_of_two_below(columns / kVector), kThreads / height);
  const Expr is_warp = ir::less(columns / threads, ir::min(kRows * height, kManyValues));
  const Expr values = columns / ir::select(is_warp, threads, context.pool().constant(kThreads));
  const Expr element = ir::select(is_warp, kernel.parameter("element", kCycle),
                                  kernel.parameter("block_element", kCycle));
  const Typed<Seconds> chain(values * kernel.time("value").expr());
  const Typed<Seconds> issue =
      cycles_time(context, rows, kernel.parameter("row", kCycle) + columns * element);
  const Typed<Seconds> traffic = traffic_time(context);
  return kernel.finish(kernel.start() + chain + max(issue, traffic),
                       {{"start", kernel.start(), {}},
                        {"chain", chain, {}},
                        {"issue", issue, {}},
                        {"memory", traffic, {}}},
                       issue);
}

OpEstimate stream_kernel(const OpContext& context, Expr elements) {
  const Kernel kernel(context);
  const Typed<Bytes> written = written_bytes(context);
  const Typed<Seconds> issue = cycles_time(context, elements, kernel.parameter("element", kCycle));
  const Typed<Seconds> cached = traffic_time(context);
  const Typed<Seconds> bulk(context.demand.bytes.expr() /
                            (kernel.parameter("bulk") * context.main.expr()));
  const Typed<Seconds> traffic(ir::select(
      ir::less(written.expr(), kernel.parameter("bulk_from", kByte)), cached.expr(), bulk.expr()));
  const Typed<Seconds> page(
      ir::select(ir::less(written.expr(), kernel.parameter("page_from", kByte)),
                 context.pool().constant(0, kSecond), kernel.time("page").expr()));
  const Typed<Seconds> latency = kernel.time("latency") + page;
  const Typed<Seconds> work = max(issue, contraction_time(context));
  const Typed<Seconds> body = overlap(work, traffic, context.pool().constant(kOverlap));
  return kernel.finish(kernel.start() + overlap(latency, body, kernel.parameter("overlap")),
                       {{"start", kernel.start(), {}},
                        {"latency", latency, {}},
                        {"issue", work, {}},
                        {"memory", traffic, {}}},
                       issue);
}

OpEstimate column_sum_kernel(const OpContext& context) {
  const Kernel kernel(context);
  const Expr columns = context.dim("n");
  const Expr rows = context.dim("i") / columns;
  const Expr none = context.pool().constant(0, kSecond);
  const Typed<Seconds> stages(
      ir::select(ir::less(rows, kWarpRows), none, kernel.time("split").expr()) +
      ir::select(ir::less(rows, kBlockRows), none, kernel.time("stages").expr()));
  const Expr spanned =
      columns / kColumnUnit * kernel.parameter("column_rate") * context.main.expr();
  const Typed<Seconds> spanning(context.demand.bytes.expr() / spanned);
  const Typed<Seconds> traffic = traffic_time(context);
  return kernel.finish(kernel.start() + stages + max(traffic, spanning),
                       {{"start", kernel.start(), {}},
                        {"stages", stages, {}},
                        {"columns", spanning, {}},
                        {"memory", traffic, {}}});
}

OpEstimate total_sum_kernel(const OpContext& context) {
  const Kernel kernel(context);
  const Expr elements = context.dim("i");
  const Typed<Seconds> serial(
      ir::min(kernel.time("serial_most").expr(), elements * kernel.time("serial").expr()));
  const Typed<Seconds> page(
      ir::select(ir::less(context.demand.bytes.expr(), kernel.parameter("page_from", kByte)),
                 context.pool().constant(0, kSecond), kernel.time("page").expr()));
  const Typed<Seconds> memory(context.demand.bytes.expr() /
                              (kernel.parameter("main") * context.main.expr()));
  return kernel.finish(kernel.start() + serial + page + memory, {{"start", kernel.start(), {}},
                                                                 {"serial", serial, {}},
                                                                 {"page", page, {}},
                                                                 {"memory", memory, {}}});
}

OpEstimate gather_kernel(const OpContext& context) {
  const Kernel kernel(context);
  const Expr rows = context.dim("t");
  const Expr few = ir::select(ir::less(rows, kGatherRows + 1), rows, context.pool().constant(0));
  const Typed<Seconds> latency =
      kernel.time("latency") + Typed<Seconds>(few * kernel.time("row_latency").expr());
  const Typed<Seconds> memory(context.demand.bytes.expr() /
                              (kernel.parameter("main") * context.main.expr()));
  const Typed<Seconds> body = overlap(latency, memory, context.pool().constant(kGatherOverlap));
  return kernel.finish(
      kernel.start() + body,
      {{"start", kernel.start(), {}}, {"latency", latency, {}}, {"memory", memory, {}}});
}

}  // namespace mansard::model::estimators
