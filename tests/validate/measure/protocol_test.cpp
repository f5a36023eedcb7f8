#include "validate/measure/protocol.hpp"

#include <catch2/catch.hpp>

namespace mansard::measure {
namespace {

/// A clock that stands still until it is moved.
struct ManualClock {
  Seconds now{0};
  Clock clock() {
    return [this] { return now; };
  }
};

TEST_CASE("trials stop after one batch when they agree") {
  ManualClock time;
  int batches = 0;
  const auto samples = take_trials(
      {},
      [&](int count) {
        ++batches;
        return std::vector<double>(count, 2.0);
      },
      time.clock());
  CHECK(batches == 1);
  CHECK(samples.size() == 7);
}

TEST_CASE("trials that scatter go on until they are used up") {
  ManualClock time;
  double value = 1;
  const auto samples = take_trials(
      {},
      [&](int count) {
        std::vector<double> batch;
        for (int i = 0; i < count; ++i) {
          batch.push_back(value = 3 - value);
        }
        return batch;
      },
      time.clock());
  CHECK(samples.size() == 63);
}

TEST_CASE("no batch begins after the time limit, and the first always runs") {
  ManualClock time;
  double value = 1;
  const auto samples = take_trials(
      {.limit = Seconds(0.1)},
      [&](int count) {
        time.now += Seconds(0.2);
        std::vector<double> batch;
        for (int i = 0; i < count; ++i) {
          batch.push_back(value = 3 - value);
        }
        return batch;
      },
      time.clock());
  CHECK(samples.size() == 7);
}

TEST_CASE("a budget is spent when its time is over, and none is never spent") {
  ManualClock time;
  const Budget budget(Seconds(10), time.clock());
  const Budget unlimited(Seconds(0), time.clock());
  CHECK(budget.left() == Seconds(10));
  time.now = Seconds(10.5);
  CHECK(budget.spent());
  CHECK_FALSE(unlimited.spent());
}

TEST_CASE("a budget is shared out over what is left to measure, within limits") {
  ManualClock time;
  const Budget budget(Seconds(10), time.clock());
  CHECK(budget.share(100, Seconds(0.5)) == Seconds(0.1));
  CHECK(budget.share(2, Seconds(0.5)) == Seconds(0.5));
  CHECK(budget.share(100000, Seconds(0.5)) == Seconds(0.02));
}

TEST_CASE("a replay holds calls for about its target time, at least one") {
  CHECK(calls_per_replay(Seconds(1e-6), Seconds(3e-3), 1500) == 1500);
  CHECK(calls_per_replay(Seconds(1e-4), Seconds(3e-3), 1500) == 30);
  CHECK(calls_per_replay(Seconds(1), Seconds(3e-3), 1500) == 1);
}

TEST_CASE("the copies of the operands together span three times the cache") {
  constexpr double kCache = 60e6;
  CHECK(rotation_sets(60e6, kCache, 1024) == 3);
  CHECK(rotation_sets(50e6, kCache, 1024) == 4);
  CHECK(rotation_sets(1e9, kCache, 1024) == 1);
  CHECK(rotation_sets(2, kCache, 1024) == 1024);
}

}  // namespace
}  // namespace mansard::measure
