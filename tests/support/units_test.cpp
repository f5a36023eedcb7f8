#include "support/units.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace mansard {
namespace {

constexpr Dimension kUsd{.usd = 1};

Diagnostic error_of(std::string_view text, const Dimension& expected) {
  const Result<double> result = parse_measure(text, expected);
  REQUIRE_FALSE(result);
  REQUIRE(result.error().size() == 1);
  return result.error().front();
}

/// A diagnostic of a text that stands in a file as a scalar, shown.
std::string shown_in_file(const std::string& line, const std::string& scalar,
                          const Dimension& expected) {
  const auto file = std::make_shared<const SourceFile>(SourceFile{"chips/next.yaml", line});
  const std::size_t begin = line.find(scalar);
  const bool quoted = scalar.front() == '"';
  const std::string text = quoted ? scalar.substr(1, scalar.size() - 2) : scalar;
  const Result<double> result = parse_measure(text, expected, {file, begin, begin + scalar.size()});
  REQUIRE_FALSE(result);
  return render(result.error());
}

/// Dimensions that have names, and some that have none.
std::vector<Dimension> dimensions() {
  std::vector<Dimension> result = {kNumber,
                                   kFlop,
                                   kByte,
                                   kSecond,
                                   kJoule,
                                   kInstruction,
                                   kCycle,
                                   kUsd,
                                   kFlopPerSecond,
                                   kBytePerSecond,
                                   kBytePerCycle,
                                   kInstructionPerSecond,
                                   kHertz,
                                   kWatt,
                                   kFlop - kByte,
                                   kByte - kFlop,
                                   kJoule - kFlop,
                                   kJoule - kByte,
                                   kNumber - kCycle,
                                   kNumber - kSecond,
                                   kFlop - kCycle,
                                   kUsdPerSecond,
                                   kUsd - kJoule};
  std::minstd_rand random(7);
  const auto exponent = [&random] { return static_cast<int>(random() % 7) - 3; };
  for (int i = 0; i < 100; ++i) {
    result.push_back(
        {exponent(), exponent(), exponent(), exponent(), exponent(), exponent(), exponent()});
  }
  return result;
}

/// Doubles of every magnitude that a quantity may have, and of awkward digits.
std::vector<double> values() {
  std::vector<double> result = {0,    1,    0.1,  1.0 / 3, 4.8e12, 999.5e9, 999.9999999999999e9,
                                1e15, 1e18, 1e21, 1e-15,   -2.5};
  std::mt19937_64 random(11);
  for (int i = 0; i < 400; ++i) {
    const double mantissa = 1 + static_cast<double>(random() >> 11) * 0x1p-53;
    result.push_back(std::ldexp(mantissa, static_cast<int>(random() % 240) - 120));
  }
  return result;
}

}  // namespace

TEST_CASE("text units are SI, and Ki, Mi, Gi are powers of 1024", "[support][units]") {
  struct Case {
    std::string_view text;
    double value;
    Dimension dimension;
  };
  // Values by definition of the units: SI brochure (9th edition), IEC 80000-13.
  const std::vector<Case> cases = {
      {"4.8 TB/s", 4.8e12, kBytePerSecond},
      {"141 GB", 141e9, kByte},
      {"60 MiB", 62914560, kByte},
      {"1 KiB", 1024, kByte},
      {"1 GiB", 1073741824, kByte},
      {"1 kB", 1000, kByte},
      {"989.4 TFLOP/s", 989.4e12, kFlopPerSecond},
      {"1979 TOP/s", 1979e12, kFlopPerSecond},
      {"2 FLOP", 2, kFlop},
      {"35 us", 35e-6, kSecond},
      {"35 \u00B5s", 35e-6, kSecond},
      {"35 \u03BCs", 35e-6, kSecond},
      {"12 ns", 12e-9, kSecond},
      {"1.5 ms", 1.5e-3, kSecond},
      {"2 h", 7200, kSecond},
      {"700 W", 700, kWatt},
      {"1.2 kW", 1200, kWatt},
      {"1980 MHz", 1.98e9, kHertz},
      {"1.98 GHz", 1.98e9, kHertz},
      {"128 B/clk", 128, kBytePerCycle},
      {"2048 FLOP/clk", 2048, kFlop - kCycle},
      {"29 clk", 29, kCycle},
      {"16/clk", 16, kNumber - kCycle},
      {"16 1/clk", 16, kNumber - kCycle},
      {"16 /clk", 16, kNumber - kCycle},
      {"9.6 Gbps", 1.2e9, kBytePerSecond},
      {"1.6 Tbps", 200e9, kBytePerSecond},
      {"400 Gbit/s", 50e9, kBytePerSecond},
      {"0.8 pJ/FLOP", 0.8e-12, kJoule - kFlop},
      {"20 pJ/B", 20e-12, kJoule - kByte},
      {"4 pJ/bit", 32e-12, kJoule - kByte},
      {"2.5 USD/h", 2.5 / 3600, kUsdPerSecond},
      {"3 USD", 3, kUsd},
      {"0.36 USD/kWh", 0.36 / 3.6e6, kUsd - kJoule},
      {"6 Ginst/s", 6e9, kInstructionPerSecond},
      {"75 %", 0.75, kNumber},
      {"75%", 0.75, kNumber},
      {"132", 132, kNumber},
      {"1e3 B", 1000, kByte},
      {"1E3 B", 1000, kByte},
      {"1 EB", 1e18, kByte},
      {"1EB", 1e18, kByte},
      {"-3 GB", -3e9, kByte},
      {"+3GB", 3e9, kByte},
      {".5 s", 0.5, kSecond},
      {"5. s", 5, kSecond},
      {"  4 GB  ", 4e9, kByte},
      {"3 FLOP^2/s^3", 3, Dimension{.flop = 2, .second = -3}},
  };
  for (const Case& expected : cases) {
    CAPTURE(expected.text);
    const Result<Measure> measure = parse_measure(expected.text);
    REQUIRE(measure);
    CHECK(measure->value == expected.value);
    CHECK(measure->dimension == expected.dimension);
  }
}

// The example of STYLE.md.
TEST_CASE("a unit of another dimension is an error under the unit that says what to write",
          "[support][units]") {
  CHECK(shown_in_file("    bf16: {peak: 989.4 TFLOP, source: guess}", "989.4 TFLOP",
                      kFlopPerSecond) ==
        "chips/next.yaml:1:24: error: expected a rate, found an amount of work [unit-dimension]\n"
        "  1 |     bf16: {peak: 989.4 TFLOP, source: guess}\n"
        "    |                        ^^^^^ write TFLOP/s\n");
  CHECK(shown_in_file("cap: \"700 MHz\"", "\"700 MHz\"", kWatt) ==
        "chips/next.yaml:1:11: error: expected a power, found a frequency [unit-dimension]\n"
        "  1 | cap: \"700 MHz\"\n"
        "    |           ^^^ write a unit such as W\n");
}

TEST_CASE("a number without its unit is an error that names one", "[support][units]") {
  CHECK(shown_in_file("bandwidth: 8", "8", kBytePerSecond) ==
        "chips/next.yaml:1:12: error: expected a bandwidth, found a number without a unit "
        "[unit-missing]\n"
        "  1 | bandwidth: 8\n"
        "    |            ^ write a unit such as GB/s\n");
  CHECK(error_of("8 s", kNumber).label == "write a number without a unit");
}

TEST_CASE("an unknown unit is an error with what was probably meant", "[support][units]") {
  struct Case {
    std::string_view text;
    std::string_view label;
  };
  for (const Case& expected : std::vector<Case>{{"5 TFLOPS", "write TFLOP/s"},
                                                {"5 TOPS", "write TOP/s"},
                                                {"5 GBps", "write GB/s"},
                                                {"5 Gb/s", "write GB (bytes) or Gbit (bits)"},
                                                {"5 KB", "write kB (1000) or KiB (1024)"},
                                                {"5 seconds", "write s"},
                                                {"5 GHZ", "did you mean GHz?"},
                                                {"5 mB", "did you mean MB?"},
                                                {"5 GFLPO", "did you mean GFLOP?"},
                                                {"5 MiHz", "did you mean MHz?"},
                                                {"5 parsec", ""}}) {
    CAPTURE(expected.text);
    const Diagnostic error = error_of(expected.text, kFlop);
    CHECK(error.id == "unit-unknown");
    CHECK(error.label == expected.label);
  }
}

TEST_CASE("text that is no finite number with a unit is refused with its place",
          "[support][units]") {
  struct Case {
    std::string_view text;
    std::string_view id;
  };
  for (const Case& expected : std::vector<Case>{{"", "unit-number"},
                                                {"  ", "unit-number"},
                                                {"GB", "unit-number"},
                                                {"inf GB", "unit-number"},
                                                {"nan", "unit-number"},
                                                {"-Infinity", "unit-number"},
                                                {"1e999 B", "unit-number"},
                                                {"1e99999999999999999999 B", "unit-number"},
                                                {"1e308 PB", "unit-number"},
                                                {"- 3 B", "unit-number"},
                                                {"0x10 B", "unit-unknown"},
                                                {"1,000 B", "unit-unknown"},
                                                {"3 B/", "unit-unknown"},
                                                {"3 B//s", "unit-unknown"},
                                                {"3 /", "unit-unknown"},
                                                {"3 B s", "unit-trailing"},
                                                {"3 B (dense)", "unit-trailing"},
                                                {"3 B^", "unit-power"},
                                                {"3 B^0", "unit-power"},
                                                {"3 B^99", "unit-power"}}) {
    CAPTURE(expected.text);
    CHECK(error_of(expected.text, kByte).id == expected.id);
  }
}

TEST_CASE("a value is written with the prefix that reads best", "[support][units]") {
  CHECK(format_measure(4.8e12, kBytePerSecond) == "4.8 TB/s");
  CHECK(format_measure(35.2e-6, kSecond) == "35.2 us");
  CHECK(format_measure(141e9, kByte) == "141 GB");
  CHECK(format_measure(989.4e12, kFlopPerSecond) == "989 TFLOP/s");
  CHECK(format_measure(989.4e12, kFlopPerSecond, 4) == "989.4 TFLOP/s");
  CHECK(format_measure(999.96e9, kByte) == "1 TB");
  CHECK(format_measure(1.98e9, kHertz) == "1.98 GHz");
  CHECK(format_measure(0.8e-12, kJoule - kFlop) == "0.8 pJ/FLOP");
  CHECK(format_measure(2.5 / 3600, kUsdPerSecond) == "2.5 USD/h");
  CHECK(format_measure(16, kNumber - kCycle) == "16/clk");
  CHECK(format_measure(128, kBytePerCycle) == "128 B/clk");
  CHECK(format_measure(295.3, kFlop - kByte) == "295 FLOP/B");
  CHECK(format_measure(7200, kSecond) == "7200 s");
  CHECK(format_measure(0.5, kByte) == "0.5 B");
  CHECK(format_measure(0.0123, kNumber) == "0.0123");
  CHECK(format_measure(123456, kNumber) == "123000");
  CHECK(format_measure(1e30, kByte) == "1000000000000 EB");
  CHECK(format_measure(1e-20, kSecond) == "1e-08 ps");
  CHECK(format_measure(-3e9, kByte) == "-3 GB");
  CHECK(format_measure(0, kSecond) == "0 s");
  CHECK(format_measure(Seconds(0.05)) == "50 ms");
  CHECK(format_measure(std::numeric_limits<double>::infinity(), kSecond) == "inf s");
  CHECK(format_measure(std::nan(""), kNumber) == "nan");
}

// Decimal prefixes and USD/h alike: seventeen digits name one double, and reading rounds once.
TEST_CASE("reading a value written in full gives it back bit for bit", "[support][units]") {
  for (const Dimension& dimension : dimensions()) {
    for (const double value : values()) {
      const std::string text = format_measure(value, dimension, 17);
      const Result<Measure> measure = parse_measure(text);
      if (!measure || measure->value != value || measure->dimension != dimension) {
        CAPTURE(text, value);
        CHECK(false);
      }
    }
  }
}

TEST_CASE("a written value is within half a unit of its last digit", "[support][units]") {
  for (const double value : values()) {
    for (int digits = 1; digits <= 6; ++digits) {
      const Result<double> read = parse_measure(format_measure(value, kSecond, digits), kSecond);
      REQUIRE(read);
      CHECK(std::abs(*read - value) <= 0.5000001 * std::pow(10, 1 - digits) * std::abs(value));
    }
  }
}

TEST_CASE("one of the base unit of any dimension is one", "[support][units]") {
  for (const Dimension& dimension : dimensions()) {
    CAPTURE(unit_of(dimension));
    const Result<double> value = parse_measure("1 " + unit_of(dimension), dimension);
    REQUIRE(value);
    CHECK(*value == 1.0);
  }
}

TEST_CASE("dimensions are called what people call them", "[support][units]") {
  CHECK(describe(kFlopPerSecond) == "a rate of work");
  CHECK(describe(kBytePerSecond) == "a bandwidth");
  CHECK(describe(kSecond) == "a time");
  CHECK(describe(kByte) == "an amount of data");
  CHECK(describe(kNumber) == "a plain number");
  CHECK(describe(kUsd - kJoule) == "a value in USD/J");
  CHECK(unit_of(kFlopPerSecond) == "FLOP/s");
  CHECK(unit_of(kWatt) == "W");
  CHECK(unit_of(kUsdPerSecond) == "USD/s");
  CHECK(unit_of(kNumber).empty());
}

TEST_CASE("an adjustment replaces, scales or adds", "[support][units]") {
  struct Case {
    std::string_view text;
    double result;  ///< Of 4 TB/s.
  };
  for (const Case& expected : std::vector<Case>{{"8 TB/s", 8e12},
                                                {"*1.5", 6e12},
                                                {" * 0.5", 2e12},
                                                {"*50%", 2e12},
                                                {"+1 TB/s", 5e12},
                                                {"-500 GB/s", 3.5e12}}) {
    CAPTURE(expected.text);
    const Result<Adjustment> adjustment = parse_adjustment(expected.text, kBytePerSecond);
    REQUIRE(adjustment);
    CHECK(adjustment->apply(4e12) == expected.result);
  }
}

TEST_CASE("an adjustment of the wrong dimension is refused under its unit", "[support][units]") {
  const auto file =
      std::make_shared<const SourceFile>(SourceFile{"--set", "hbm.bandwidth=*2 TB/s"});
  const Result<Adjustment> scaled = parse_adjustment("*2 TB/s", kBytePerSecond, {file, 14, 21});
  REQUIRE_FALSE(scaled);
  CHECK(render(scaled.error()) ==
        "--set:1:18: error: expected a plain number, found a bandwidth [unit-dimension]\n"
        "  1 | hbm.bandwidth=*2 TB/s\n"
        "    |                  ^^^^ write a number without a unit\n");
  CHECK_FALSE(parse_adjustment("*", kByte));
  CHECK_FALSE(parse_adjustment("", kByte));
  CHECK_FALSE(parse_adjustment("+1 s", kByte));
  CHECK_FALSE(parse_adjustment("/2", kByte));
}

}  // namespace mansard
