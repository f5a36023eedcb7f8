#include "validate/measure/isolate.hpp"

#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace mansard::measure {
namespace {

const auto kNeverEnough = [] { return false; };

TEST_CASE("every job runs, and how each ended is counted") {
  const Tally tally = run_isolated(
      5,
      [](int job) {
        return job == 1 ? Outcome::kSkipped : job == 3 ? Outcome::kFailed : Outcome::kDone;
      },
      kNeverEnough, [](int, const char*) {}, Seconds(20));
  CHECK(tally.done == 3);
  CHECK(tally.skipped == 1);
  CHECK(tally.failed == 1);
}

TEST_CASE("a job that loses the device, dies or hangs costs that job only") {
  std::vector<int> lost;
  const Tally tally = run_isolated(
      6,
      [](int job) {
        if (job == 1) {
          return Outcome::kProcessLost;
        }
        if (job == 2) {
          std::raise(SIGKILL);
        }
        if (job == 4) {
          std::this_thread::sleep_for(std::chrono::seconds(30));
        }
        return Outcome::kDone;
      },
      kNeverEnough, [&](int job, const char*) { lost.push_back(job); }, Seconds(2));
  CHECK(tally.done == 3);
  CHECK(tally.failed == 3);
  CHECK(lost == std::vector<int>{1, 2, 4});
}

TEST_CASE("a job that says that none can run ends the run as failed") {
  const Tally tally = run_isolated(
      5, [](int) { return Outcome::kHopeless; }, kNeverEnough, [](int, const char*) {},
      Seconds(20));
  CHECK(tally.failed == 1);
}

TEST_CASE("no job begins once it is enough") {
  const Tally tally = run_isolated(
      5, [](int) { return Outcome::kDone; }, [] { return true; }, [](int, const char*) {},
      Seconds(20));
  CHECK(tally.done == 0);
}

}  // namespace
}  // namespace mansard::measure
