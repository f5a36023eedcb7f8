#include <catch2/catch.hpp>

#include "cli/serve/server.hpp"

namespace mansard::cli {
namespace {

ServeOptions small_service() {
  ServeOptions options;
  options.model.model = "llama3-8b";
  options.machine.machines = {"h100-sxm"};
  options.num_requests = 20;
  options.rate = 4;
  return options;
}

/// What a server answers that has answered `before` already.
ServeAnswer after(const ServeOptions& before, const ServeOptions& options) {
  Server server;
  REQUIRE(server.serve(before, {}));
  auto answer = server.serve(options, {});
  REQUIRE(answer);
  return std::move(*answer);
}

ServeAnswer alone(const ServeOptions& options) {
  Server server;
  auto answer = server.serve(options, {});
  REQUIRE(answer);
  return std::move(*answer);
}

TEST_CASE("what a server served before changes no answer", "[serve]") {
  const ServeOptions before = small_service();
  std::vector<ServeOptions> others(7, before);
  others[0].engine.runtime_memory = "5 GB";
  others[1].engine.enforce_eager = true;
  others[2].engine.max_num_seqs = 4;
  others[3].engine.memory_utilization = 0.6;
  others[4].model.weights = "fp8";
  others[5].model.tp = 2;
  others[6].engine.swap_space = "1 GB";
  others[6].engine.preemption = "swap";
  for (const ServeOptions& options : others) {
    const ServeAnswer fresh = alone(options);
    const ServeAnswer later = after(before, options);
    CHECK(later.report.ttft.mean() == fresh.report.ttft.mean());
    CHECK(later.report.tpot.mean() == fresh.report.tpot.mean());
    CHECK(later.pools.front().blocks == fresh.pools.front().blocks);
    CHECK(later.assumptions == fresh.assumptions);
  }
}

TEST_CASE("memory that the runtime takes is not there for keys and values", "[serve]") {
  ServeOptions options = small_service();
  const ServeAnswer less = alone(options);
  options.engine.runtime_memory = "5 GB";
  const ServeAnswer more = alone(options);
  const double block = 16 * less.pools.front().memory.kv_per_token;
  const double fewer = static_cast<double>(less.pools.front().blocks - more.pools.front().blocks);
  CHECK(fewer * block == Approx(4.4e9).epsilon(1e-3));
}

TEST_CASE("eager engines issue every kernel and take longer", "[serve]") {
  ServeOptions options = small_service();
  options.machine.machines = {"h200-sxm"};  // whose host was measured
  const ServeAnswer graphs = alone(options);
  options.engine.enforce_eager = true;
  CHECK(alone(options).report.tpot.mean() > 1.1 * graphs.report.tpot.mean());
}

TEST_CASE("a model that drafts takes memory and time", "[serve]") {
  ServeOptions options = small_service();
  options.engine.draft_tokens = 3;
  const ServeAnswer free = alone(options);
  options.engine.draft_model = "llama3.2-1b";
  const ServeAnswer drafted = alone(options);
  CHECK(drafted.pools.front().blocks < free.pools.front().blocks);
  CHECK(drafted.pools.front().memory.kv_per_token > free.pools.front().memory.kv_per_token);
  CHECK(drafted.report.tpot.mean() > free.report.tpot.mean());
}

TEST_CASE("rates of nothing and failures without end are refused", "[serve]") {
  ServeOptions options = small_service();
  options.rate = 0;
  options.scale = 0;
  options.burstiness = 0;
  options.mtbf = "1 ns";
  Server server;
  const auto answer = server.serve(options, {});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().size() == 4);
}

TEST_CASE("options that contradict each other are refused together", "[serve]") {
  ServeOptions options = small_service();
  options.engine.draft_model = "llama3.2-1b";
  options.pools = {"l40s*2:decode"};
  options.failures = {"3 s@9"};
  options.slo = "ttft=-1 s";
  Server server;
  const auto answer = server.serve(options, {});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().size() == 5);
}

}  // namespace
}  // namespace mansard::cli
