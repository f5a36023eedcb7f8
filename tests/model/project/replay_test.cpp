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
  const ir::Timeline again = replay(trace, {100, 175, 50});
  CHECK(starts(again) == starts(trace));
  CHECK(again.calls[2].duration_ns == 280);
  CHECK(again.calls[3].start_ns == 320);
}

TEST_CASE("a shorter kernel brings forward what waited for it, across streams and the host",
          "[project]") {
  // The first ends at 60 instead of 120, so the second starts at 65, ends at 240; the host returns
  // from its wait at 250 and launches the third at 260.
  const ir::Timeline faster = replay(two_streams(), {40, 175, 50});
  CHECK(starts(faster) == std::vector<std::int64_t>{20, 65, 275});
}

TEST_CASE("a kernel never starts before its launch, however fast the device", "[project]") {
  const ir::Timeline faster = replay(two_streams(), {0, 0, 0});
  for (const ir::Activity& a : faster.activities) {
    CHECK(a.start_ns >= faster.calls[*a.call].start_ns);
  }
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
