#include <benchmark/benchmark.h>

#include "frontend/frontend.hpp"
#include "hardware/catalog.hpp"
#include "model/serve/deployment.hpp"
#include "model/serve/service.hpp"
#include "tests/model/serve/made.hpp"
#include "traces/requests/generate.hpp"

namespace mansard::model::serve {
namespace {

/// Users of a closed loop who keep a batch of 64 full.
std::unique_ptr<ir::RequestSource> sixty_four_users(std::uint64_t requests) {
  traces::requests::Workload workload{.requests = requests};
  workload.arrivals = {.kind = traces::requests::Arrivals::Kind::kClosed, .users = 64};
  workload.input = *traces::requests::parse_lengths("512", false);
  workload.output = *traces::requests::parse_lengths("256", true);
  return traces::requests::generate(workload);
}

/// Iterations of a batch of 64 without the step model.
void simulate_alone(benchmark::State& state) {
  TokenTimer timer;
  Service service;
  service.pools = {small_pool(timer)};
  std::uint64_t iterations = 0;
  for (auto _ : state) {
    auto source = sixty_four_users(4000);
    iterations += simulate(service, *source, {}).counts.iterations;
  }
  state.counters["iterations"] =
      benchmark::Counter(static_cast<double>(iterations), benchmark::Counter::kIsRate);
}
BENCHMARK(simulate_alone)->Unit(benchmark::kMillisecond);

/// The same with the estimate of Llama-3-8B on an H100 for every batch.
void simulate_llama(benchmark::State& state) {
  const auto graph = frontend::import_model("llama3-8b", frontend::Phase::kDecode);
  const auto machine = hardware::load_machine("h100-sxm");
  const auto calibration = Calibration::of(*machine);
  const auto deployed = deploy({.decode = *graph,
                                .prefill = *graph,
                                .machine = *machine,
                                .calibration = *calibration,
                                .plan = {},
                                .options = {},
                                .settings = {}});
  Service service;
  service.pools = {deployed->pool};
  std::uint64_t iterations = 0;
  for (auto _ : state) {
    auto source = sixty_four_users(4000);
    iterations += simulate(service, *source, {}).counts.iterations;
  }
  state.counters["iterations"] =
      benchmark::Counter(static_cast<double>(iterations), benchmark::Counter::kIsRate);
}
BENCHMARK(simulate_llama)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mansard::model::serve
