#include "validate/measure/statistics.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

namespace mansard::measure {
namespace {

TEST_CASE("the summary of trials is their median, least and greatest") {
  const std::vector<double> samples = {5, 1, 4, 2};
  const Summary summary = summarize(samples);
  CHECK(summary.median == 3);
  CHECK(summary.min == 1);
  CHECK(summary.max == 5);
  CHECK(summary.trials == 4);
}

TEST_CASE("one trial is its own summary, and says nothing of its error") {
  const std::vector<double> samples = {7};
  CHECK(summarize(samples).median == 7);
  CHECK(std::isinf(relative_error_of_median(samples)));
}

TEST_CASE(
    "the error of a median of normal samples is 1.2533 deviations over the root of their count") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(100, 2);
  std::vector<double> samples(4000);
  for (double& sample : samples) {
    sample = normal(random);
  }
  const double expected = 1.2533 * 2 / std::sqrt(4000.0) / 100;
  CHECK(relative_error_of_median(samples) == Approx(expected).epsilon(0.05));
}

TEST_CASE("equal trials have a median without error") {
  const std::vector<double> samples(7, 3.5);
  CHECK(relative_error_of_median(samples) == 0);
}

}  // namespace
}  // namespace mansard::measure
