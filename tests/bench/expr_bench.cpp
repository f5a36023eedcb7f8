#include <benchmark/benchmark.h>

#include "ir/derivative.hpp"
#include "ir/expr_eval.hpp"

namespace mansard::ir {
namespace {

/// A sum over ops of a roofline with ceilings and tiles, as a model builds it: about `nodes` nodes.
Expr roofline(ExprPool& pool, std::size_t nodes) {
  const Expr batch = pool.symbol("batch");
  const Expr context = pool.symbol("context");
  const Expr bandwidth = pool.symbol("hbm.bandwidth");
  const Expr rate = pool.symbol("matrix.bf16");
  const Expr sms = pool.symbol("sm_count");
  Expr total = pool.constant(0);
  for (int op = 1; pool.size() < nodes; ++op) {
    const Expr n = 512 * op + context;
    const Expr work = 2 * batch * n * 4096;
    const Expr bytes = (n * 4096 + batch * (n + 4096)) * 2;
    const Expr tiles = ceil_div(batch, 64) * ceil_div(n, 128);
    const Expr waves = ceil_div(tiles, sms);
    const Expr used = tiles / (waves * sms);
    total = total + max(work / (rate * used), bytes / bandwidth) + 2e-6;
  }
  return total;
}

const std::vector<double> kPoint{16, 2048, 4.8e12, 989.4e12,
                                 132};  // In the order of the symbols' names.

void evaluate(benchmark::State& state) {
  ExprPool pool;
  const Expr total = roofline(pool, static_cast<std::size_t>(state.range(0)));
  Evaluator evaluator({&total, 1});
  std::vector<double> point = kPoint;
  double time = 0;
  while (state.KeepRunning()) {
    point[0] += 1;
    evaluator.evaluate(point, {&time, 1});
    benchmark::DoNotOptimize(time);
  }
  state.counters["nodes"] = static_cast<double>(pool.size());
  state.counters["evaluations"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(evaluate)->Arg(300)->Arg(3000)->Arg(30000);

void build(benchmark::State& state) {
  while (state.KeepRunning()) {
    ExprPool pool;
    benchmark::DoNotOptimize(roofline(pool, 3000));
  }
}
BENCHMARK(build)->Unit(benchmark::kMicrosecond);

void flatten(benchmark::State& state) {
  ExprPool pool;
  const Expr total = roofline(pool, 3000);
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(Evaluator({&total, 1}));
  }
}
BENCHMARK(flatten)->Unit(benchmark::kMicrosecond);

void count_exactly(benchmark::State& state) {
  ExprPool pool;
  const Expr n = pool.symbol("n");
  Expr total = n;
  while (pool.size() < 3000) {
    total = total + ceil_div(total, 3) * 2;
  }
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(count(floor_div(total, 7), {{"n", 1}}));
  }
}
BENCHMARK(count_exactly)->Unit(benchmark::kMicrosecond);

void differentiate(benchmark::State& state) {
  while (state.KeepRunning()) {
    state.PauseTiming();
    ExprPool pool;
    const Expr total = roofline(pool, 3000);
    state.ResumeTiming();
    benchmark::DoNotOptimize(derivative(total, pool.symbol("hbm.bandwidth")));
  }
}
BENCHMARK(differentiate)->Unit(benchmark::kMicrosecond);

void power(benchmark::State& state) {
  ExprPool pool;
  const Expr e = pow(pool.symbol("x"), pool.symbol("y"));
  Evaluator evaluator({&e, 1});
  std::vector<double> point{0.97, 64};
  double result = 0;
  while (state.KeepRunning()) {
    evaluator.evaluate(point, {&result, 1});
    benchmark::DoNotOptimize(result);
  }
}
BENCHMARK(power);

}  // namespace
}  // namespace mansard::ir
