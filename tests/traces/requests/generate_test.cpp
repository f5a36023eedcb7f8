#include "traces/requests/generate.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "support/random.hpp"

namespace mansard::traces::requests {
namespace {

struct Moments {
  double rate = 0;
  double variation = 0;  ///< Of the gaps: deviation over mean.
  double input = 0;
};

Moments moments(const Workload& workload) {
  auto source = generate(workload);
  double before = 0;
  double sum = 0;
  double squares = 0;
  double input = 0;
  double count = 0;
  while (const auto request = source->next()) {
    const double gap = request->arrival - before;
    before = request->arrival;
    input += request->input_tokens;
    if (count > 0) {
      sum += gap;
      squares += gap * gap;
    }
    ++count;
  }
  const double mean = sum / (count - 1);
  return {.rate = 1 / mean,
          .variation = std::sqrt(std::max(squares / (count - 1) - mean * mean, 0.0)) / mean,
          .input = input / count};
}

TEST_CASE("arrivals have the rate and the variation of their process", "[requests]") {
  Workload w{.requests = 200000, .seed = 1};
  w.arrivals = {.kind = Arrivals::Kind::kPoisson, .rate = 5};
  Moments poisson = moments(w);
  CHECK(poisson.rate == Approx(5).epsilon(0.01));
  CHECK(poisson.variation == Approx(1).epsilon(0.01));
  w.arrivals = {.kind = Arrivals::Kind::kGamma, .rate = 5, .shape = 0.25};
  CHECK(moments(w).rate == Approx(5).epsilon(0.02));
  CHECK(moments(w).variation == Approx(2).epsilon(0.02));  // 1 / sqrt(shape)
  w.arrivals = {.kind = Arrivals::Kind::kConstant, .rate = 5};
  CHECK(moments(w).variation == Approx(0).margin(1e-5));
}

TEST_CASE("lengths have the mean that was asked for", "[requests]") {
  Workload w{.requests = 200000, .seed = 2};
  w.input = *parse_lengths("lognormal:300,0.8", false);
  CHECK(moments(w).input == Approx(300).epsilon(0.01));
  w.input = *parse_lengths("uniform:10..20", false);
  CHECK(moments(w).input == Approx(15).epsilon(0.01));
  w.input = *parse_lengths("sharegpt", false);
  CHECK(moments(w).input == Approx(161).epsilon(0.02));
  for (const char* wrong : {"", "0", "-3", "2.5", "uniform:9..3", "lognormal:5", "gaussian:1,2"}) {
    CHECK_FALSE(parse_lengths(wrong, false));
  }
}

TEST_CASE("the same seed makes the same requests, on any machine", "[requests]") {
  Random random(42);
  CHECK(random.next() == 1546998764402558742U);  // xoshiro256** seeded by splitmix64(42)
  CHECK(portable_log(2.718281828459045) == Approx(1).epsilon(1e-15));
  CHECK(portable_exp(-3.5) == Approx(std::exp(-3.5)).epsilon(1e-15));
  for (double x = 1e-9; x < 1e9; x *= 1.37) {
    CHECK(portable_log(x) == Approx(std::log(x)).epsilon(1e-15));
  }
}

TEST_CASE("a closed loop's user asks again only after the answer", "[requests]") {
  Workload w{.requests = 5, .seed = 0};
  w.arrivals = {.kind = Arrivals::Kind::kClosed, .users = 2, .think_time = 1};
  auto source = generate(w);
  const auto first = source->next();
  REQUIRE(source->next());
  CHECK_FALSE(source->next());
  const auto again = source->after(*first, 7);
  REQUIRE(again);
  CHECK(again->arrival == 8);
  CHECK(again->user == first->user);
}

}  // namespace
}  // namespace mansard::traces::requests
