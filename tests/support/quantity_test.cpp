#include "support/quantity.hpp"

#include <concepts>

#include <catch2/catch.hpp>

namespace mansard {
namespace {

template <typename A, typename B>
concept Addable = requires(A a, B b) { a + b; };
template <typename A, typename B>
concept Comparable = requires(A a, B b) { a < b; };

// What a dimension of products and quotients is.
static_assert(std::same_as<decltype(Flops(1) / FlopsPerSecond(1)), Seconds>);
static_assert(std::same_as<decltype(Flops(1) / Bytes(1)), FlopsPerByte>);
static_assert(std::same_as<decltype(Bytes(1) / Seconds(1)), BytesPerSecond>);
static_assert(std::same_as<decltype(Watts(1) * Seconds(1)), Joules>);
static_assert(std::same_as<decltype(BytesPerCycle(1) * Hertz(1)), BytesPerSecond>);
static_assert(std::same_as<decltype(UsdPerSecond(1) * Seconds(1)), Usd>);
static_assert(std::same_as<decltype(Instructions(1) / Seconds(1)), InstructionsPerSecond>);
static_assert(std::same_as<decltype(Bytes(4) / Bytes(2)), double>);

// What does not compile.
static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Flops, Bytes>);
static_assert(!Addable<Seconds, double>);
static_assert(!Addable<Watts, Joules>);
static_assert(Comparable<Seconds, Seconds>);
static_assert(!Comparable<Seconds, Cycles>);
static_assert(!std::convertible_to<double, Bytes>);
static_assert(!std::convertible_to<Bytes, double>);

// What it costs.
static_assert(sizeof(Bytes) == sizeof(double));

// H100 SXM: 989.4 TFLOP/s dense bf16 over 3.35 TB/s is 295.3 FLOP a byte (datasheet).
static_assert(989.4_TFLOPs / 3350_GBps > FlopsPerByte(295));
static_assert(989.4_TFLOPs / 3350_GBps < FlopsPerByte(296));

}  // namespace

TEST_CASE("work over a rate of work is a time", "[support][quantity]") {
  CHECK((Flops(2e12) / FlopsPerSecond(1e12)).value() == 2.0);
  CHECK(Seconds(3) / Seconds(2) == 1.5);
  CHECK(Flops(2e12) / FlopsPerSecond(1e12) == Seconds(2));
}

TEST_CASE("quantities of one dimension add, subtract, scale and compare", "[support][quantity]") {
  CHECK((Bytes(3) + Bytes(4) - Bytes(2)).value() == 5.0);
  CHECK((2.0 * Bytes(3)).value() == 6.0);
  CHECK((Bytes(3) * 2.0).value() == 6.0);
  CHECK((Bytes(3) / 2.0).value() == 1.5);
  CHECK(Bytes(3) < Bytes(4));
  CHECK((1_GiB).value() == 1073741824.0);
}

TEST_CASE("the dimension of a product is the sum of exponents, of a quotient the difference",
          "[support][quantity]") {
  CHECK(kWatt + kSecond == kJoule);
  CHECK(kFlop - kSecond == kFlopPerSecond);
  CHECK(kBytePerCycle + kHertz == kBytePerSecond);
  CHECK(kByte - kByte == kNumber);
}

}  // namespace mansard
