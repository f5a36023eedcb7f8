#include "model/project/replay.hpp"

#include <catch2/catch.hpp>

namespace mansard::model {
namespace {

/// Two kernels that one thread launches onto two streams; it then waits for the second.
ir::Timeline two_streams() {
  ir::Timeline timeline;
  timeline.calls = {
      {.id = 1, .run = 1, .thread = 1, .start_ns = 0, .duration_ns = 10},
      {.id = 2, .run = 1, .thread = 1, .start_ns = 15, .duration_ns = 10},
      {.id = 3, .run = 1, .thread = 1, .start_ns = 30, .duration_ns = 280, .waits = true},
      {.id = 4, .run = 1, .thread = 1, .start_ns = 320, .duration_ns = 10}};
  timeline.activities = {
      {.id = 1, .run = 1, .stream = 7, .start_ns = 20, .duration_ns = 100, .call = 0},
      {.id = 2, .run = 1, .stream = 8, .start_ns = 125, .duration_ns = 175, .call = 1},
      {.id = 3, .run = 1, .stream = 8, .start_ns = 335, .duration_ns = 50, .call = 3}};
  return timeline;
}

std::vector<std::int64_t> starts(const ir::Timeline& timeline) {
  std::vector<std::int64_t> result;
  for (const ir::Activity& a : timeline.activities) {
    result.push_back(a.start_ns);
  }
  return result;
}

}  // namespace

TEST_CASE("a replay with the times of the trace is the trace", "[project]") {
  const ir::Timeline trace = two_streams();
  const ir::Timeline again = replay(trace, {100, 175, 50}).timeline;
  CHECK(starts(again) == starts(trace));
  CHECK(again.calls[2].duration_ns == 280);
  CHECK(again.calls[3].start_ns == 320);
}

TEST_CASE("a shorter kernel brings forward what waited for it, across streams and the host",
          "[project]") {
  // The first ends at 60 instead of 120, so the second starts at 65, ends at 240; the host returns
  // from its wait at 250 and launches the third at 260.
  const ir::Timeline faster = replay(two_streams(), {40, 175, 50}).timeline;
  CHECK(starts(faster) == std::vector<std::int64_t>{20, 65, 275});
}

TEST_CASE("a kernel never starts before its launch, however fast the device", "[project]") {
  const ir::Timeline faster = replay(two_streams(), {0, 0, 0}).timeline;
  for (const ir::Activity& a : faster.activities) {
    CHECK(a.start_ns >= faster.calls[*a.call].start_ns);
  }
}

TEST_CASE("the critical path is what the last activity waited for, and adds up", "[project]") {
  const Replayed replayed = replay(two_streams(), {100, 175, 50});
  std::vector<Cause> causes;
  std::int64_t total = 0;
  for (const PathStep& step : replayed.path) {
    causes.push_back(step.cause);
    total += step.time_ns;
  }
  CHECK(causes == std::vector{Cause::kActivity, Cause::kWait, Cause::kActivity, Cause::kReturn,
                              Cause::kHost, Cause::kLaunch, Cause::kActivity});
  CHECK(total == 365);  // From the start of the first kernel, at 20, to the end of the last.
}

TEST_CASE("a slower device makes the host wait where the queue of launches is full", "[project]") {
  // Kernels of 10 ns, launched every 20 ns onto one stream.
  ir::Timeline trace;
  std::vector<std::int64_t> durations;
  for (std::int64_t i = 0; i < 10; ++i) {
    trace.calls.push_back({.id = i, .run = 1, .thread = 1, .start_ns = 20 * i, .duration_ns = 5});
    trace.activities.push_back({.id = i,
                                .run = 1,
                                .stream = 7,
                                .start_ns = 20 * i + 7,
                                .duration_ns = 10,
                                .call = static_cast<std::size_t>(i)});
    durations.push_back(1000);
  }
  // With room for four launches, the fifth call returns when the first kernel has started, the
  // sixth when the second has, at 1007.
  const ir::Timeline slow = replay(trace, durations, {.queue = 4}).timeline;
  CHECK(slow.calls[4].end_ns() == 85);
  CHECK(slow.calls[5].end_ns() >= slow.activities[1].start_ns);
  CHECK(slow.calls[9].end_ns() >= slow.activities[5].start_ns);
  const ir::Timeline free = replay(trace, durations, {.queue = 0}).timeline;
  CHECK(free.calls[9].end_ns() == 185);
  CHECK(free.activities[9].start_ns >= 7 + 9 * 1000);
}

TEST_CASE("a wait that the profiler saw holds, however fast the rest", "[project]") {
  // Stream 8 waits for the event that stream 7 recorded behind its kernel; in the trace that had
  // long been done.
  ir::Timeline trace;
  for (std::int64_t i = 0; i < 4; ++i) {  // Launch, record, wait, launch.
    trace.calls.push_back({.id = i, .run = 1, .thread = 1, .start_ns = 100 * i, .duration_ns = 10});
  }
  trace.activities = {
      {.id = 1, .run = 1, .stream = 7, .start_ns = 20, .duration_ns = 30, .call = 0},
      {.id = 2, .run = 1, .stream = 8, .start_ns = 320, .duration_ns = 30, .call = 3}};
  trace.waits = {{.run = 1, .call = 2, .stream = 8, .awaited_stream = 7, .recorded = 1}};
  CHECK(replay(trace, {30, 30}).timeline.activities[1].start_ns == 320);
  CHECK(replay(trace, {5000, 30}).timeline.activities[1].start_ns >= 5020);
  trace.waits.clear();
  CHECK(replay(trace, {5000, 30}).timeline.activities[1].start_ns == 320);
}

TEST_CASE("clocks that disagree and links in a circle still give the trace", "[project]") {
  // The kernel seems to start and end before its launch, and its end to be waited for before that.
  ir::Timeline trace;
  trace.calls = {{.id = 1, .run = 1, .thread = 1, .start_ns = 50, .duration_ns = 50, .waits = true},
                 {.id = 2, .run = 1, .thread = 1, .start_ns = 120, .duration_ns = 10}};
  trace.activities = {
      {.id = 1, .run = 1, .stream = 7, .start_ns = 60, .duration_ns = 30, .call = 1}};
  const ir::Timeline again = replay(trace, {30}).timeline;
  CHECK(starts(again) == std::vector<std::int64_t>{60});
  CHECK(again.calls[1].start_ns == 120);
}

TEST_CASE("time of the host is scaled, that of the device is not", "[project]") {
  const ir::Timeline slow = replay(two_streams(), {100, 175, 50}, {.host_scale = 2}).timeline;
  CHECK(slow.calls[1].start_ns == 30);
  CHECK(slow.calls[1].duration_ns == 20);
  CHECK(slow.activities[0].duration_ns == 100);
}

TEST_CASE("a projection keeps the residual and never beats the bound", "[project]") {
  // The model says 2 and 1; what was measured took 3, half more than the model, there too.
  const ModelTimes from{.bound = 1, .low = 1, .estimate = 2, .high = 3};
  const ModelTimes to{.bound = 0.5, .low = 0.5, .estimate = 1, .high = 2};
  CHECK(project_time(3, from, to).seconds == Approx(1.5));
  CHECK(project_time(3, from, to).high == Approx(3));
  CHECK(project_time(0.1, from, to).seconds == Approx(0.5));
}

}  // namespace mansard::model
