#include <cstdlib>

#include <benchmark/benchmark.h>

#include "cli/sweep/axes.hpp"
#include "cli/sweep/variants.hpp"
#include "model/sweep/sinks.hpp"

/// Sweeps of a decode step of Llama 3.1 8B on two threads, every point evaluated; and how long
/// models take to compile.
namespace mansard::cli {
namespace {

using Texts = std::vector<std::string>;

Question question_of(const char* model, std::int64_t tp, std::int64_t ep) {
  Question question;
  question.model.model = model;
  question.model.tp = tp;
  question.model.ep = ep;
  question.machine.machines = {"h200-sxm"};
  question.machine.settings = {"hbm.capacity=1000 TB"};
  return question;
}

void sweep(benchmark::State& state, const Texts& vary, const Texts& outputs, bool interpret) {
  const Question question = question_of("llama3-8b", 1, 1);
  const auto space = sweep_space(vary, question);
  VariantMaker maker(*space, question, {.outputs = outputs, .where = {}, .interpret = interpret});
  const model::SweepVariant variant = maker.make(model::SweepSpace::places(space->structural, 0));
  std::uint64_t evaluated = 0;
  while (state.KeepRunning()) {
    model::AggregateSink sink;
    const auto counts = model::run_sweep(
        *space, [&](std::span<const std::uint64_t>) { return variant; }, sink, {.threads = 2});
    evaluated += counts.evaluated;
    benchmark::DoNotOptimize(sink.groups().begin()->second.outputs.data());
  }
  state.counters["points"] =
      benchmark::Counter(static_cast<double>(evaluated), benchmark::Counter::kIsRate);
}

const Texts kBound{"bound_s"};
const Texts kEstimate{"low_s", "estimate_s", "high_s"};
const Texts kBandwidthInner{"batch=1..256", "hbm.bandwidth=1..20+0.01 TB/s"};
const Texts kBatchInner{"hbm.bandwidth=1..20+0.1 TB/s", "batch=1..1024"};
const Texts kContextInner{"batch=1..64", "context=128..8192"};
const Texts kFew{"batch=1..4", "hbm.bandwidth=1..20+0.01 TB/s"};

void sweep_option(const char* name, const Texts& vary, const Texts& outputs, bool interpret) {
  benchmark::RegisterBenchmark(
      name, [=](benchmark::State& state) { sweep(state, vary, outputs, interpret); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

/// From the graph to machine code, nothing taken from the disk.
void compile(benchmark::State& state, const char* model, std::int64_t tp, std::int64_t ep) {
  setenv("MANSARD_CACHE", "/dev/null/none", 1);
  const Question question = question_of(model, tp, ep);
  const auto space = sweep_space({"batch=1..64"}, question);
  VariantMaker maker(*space, question, {.outputs = kEstimate, .where = {}, .interpret = false});
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(maker.make({}));
  }
  unsetenv("MANSARD_CACHE");
}

const bool kRegistered = [] {
  sweep_option("sweep/bound/bandwidth", kBandwidthInner, kBound, false);
  sweep_option("sweep/bound/batch", kBatchInner, kBound, false);
  sweep_option("sweep/bound/context", kContextInner, kBound, false);
  sweep_option("sweep/bound/interpreted", kFew, kBound, true);
  sweep_option("sweep/estimate/bandwidth", kBandwidthInner, kEstimate, false);
  sweep_option("sweep/estimate/batch", kBatchInner, kEstimate, false);
  sweep_option("sweep/estimate/context", kContextInner, kEstimate, false);
  sweep_option("sweep/estimate/interpreted", kFew, kEstimate, true);
  benchmark::RegisterBenchmark("compile/llama3-8b", compile, "llama3-8b", 1, 1)
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("compile/deepseek-v3-fp8", compile, "deepseek-v3-fp8", 8, 8)
      ->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace mansard::cli
