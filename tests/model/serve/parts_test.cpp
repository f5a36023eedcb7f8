#include <catch2/catch.hpp>

#include "model/serve/distribution.hpp"
#include "model/serve/engine_settings.hpp"
#include "model/serve/timeline.hpp"

namespace mansard::model::serve {
namespace {

TEST_CASE("quantiles lie between ranks, and stay within 0.1 % when values are many", "[serve]") {
  Distribution few;
  for (const double value : {4.0, 1.0, 3.0, 2.0}) {
    few.add(value);
  }
  CHECK(few.mean() == 2.5);
  CHECK(few.quantile(0.5) == 2.5);
  CHECK(few.quantile(1) == 4);
  few.add(10, 96);
  CHECK(few.quantile(0.5) == 10);
  Distribution many;
  for (int i = 0; i < 1'500'000; ++i) {
    many.add(1e-3 + 1e-6 * i);
  }
  CHECK_FALSE(many.exact());
  CHECK(many.quantile(0.9) == Approx(1e-3 + 0.9 * 1.5).epsilon(1e-3));
  CHECK(many.mean() == Approx(1e-3 + 0.75).epsilon(1e-6));
}

TEST_CASE("a timeline keeps its sums when intervals are merged", "[serve]") {
  Timeline timeline(1);
  double sum = 0;
  for (int i = 0; i < 5000; ++i) {
    const double from = 0.37 * i;
    timeline.hold(from, from + 0.37, {.running = 2, .waiting = 1, .kv_used = 0.5});
    timeline.at(from).busy[0] += 0.1;
    sum += 0.37;
  }
  CHECK(timeline.intervals().size() <= 512);
  double seconds = 0;
  double running = 0;
  double busy = 0;
  for (const Timeline::Interval& interval : timeline.intervals()) {
    seconds += interval.seconds;
    running += interval.running;
    busy += interval.busy[0];
  }
  CHECK(seconds == Approx(sum));
  CHECK(running == Approx(2 * sum));
  CHECK(busy == Approx(500));
}

TEST_CASE("graphs are captured at vLLM's sizes unless told otherwise", "[serve]") {
  const std::vector<std::uint32_t> sizes = EngineSettings{}.captured();
  CHECK(std::vector<std::uint32_t>(sizes.begin(), sizes.begin() + 6) ==
        std::vector<std::uint32_t>{1, 2, 4, 8, 16, 24});
  CHECK(sizes.back() == 512);
  EngineSettings eager;
  eager.enforce_eager = true;
  CHECK(eager.captured().empty());
}

Result<EngineFile> engine(const std::string& text) {
  return parse_json(std::make_shared<const SourceFile>(SourceFile{"engine.json", text}))
      .and_then([](const Node& node) { return read_engine(node); });
}

TEST_CASE("an engine's settings are found wherever a benchmark wrote them", "[serve]") {
  const auto file = engine(R"({"engine_kwargs": {"max_num_seqs": 128, "tensor_parallel_size": 2},
    "kv_cache": {"num_gpu_blocks": 2588, "block_size": 32, "num_cpu_blocks": null},
    "resolved_config": {"scheduler_config": {"max_num_batched_tokens": 512, "policy": "priority"}}})");
  REQUIRE(file.has_value());
  CHECK(file->settings.max_num_seqs == 128);
  CHECK(file->settings.num_blocks == 2588U);
  CHECK(file->settings.block_size == 32);
  CHECK(file->settings.max_num_batched_tokens == 512);
  CHECK(file->settings.order == QueueOrder::kPriority);
  CHECK(file->tp == 2);
  const auto wrong = engine(R"({"block_size": -1, "max_num_seqs": "x"})");
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().size() == 2);
}

}  // namespace
}  // namespace mansard::model::serve
