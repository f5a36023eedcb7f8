#include "cli/views/numbers.hpp"

#include <catch2/catch.hpp>

namespace mansard::cli {
namespace {

TEST_CASE("measures keep three significant digits, zeros included") {
  CHECK(seconds(35.2e-6) == "35.2 us");
  CHECK(seconds(1e-3) == "1.00 ms");
  CHECK(bytes(141e9) == "141 GB");
  CHECK(measure(4.8e12, kBytePerSecond) == "4.80 TB/s");
  CHECK(bytes(0) == "-");
}

TEST_CASE("FLOP stand without their unit, which the heading has") {
  CHECK(flops(805306368) == "805 M");
  CHECK(flops(512) == "512");
  CHECK(flops(0) == "-");
}

TEST_CASE("plain numbers have three significant digits and no exponent below ten million") {
  CHECK(ratio(0.04123) == "0.0412");
  CHECK(ratio(16) == "16.0");
  CHECK(ratio(9.999) == "10.0");
  CHECK(ratio(1340.4) == "1340");
  CHECK(ratio(2.5e7) == "2.50e+07");
  CHECK(ratio(0) == "0");
}

TEST_CASE("thousands are set apart") {
  CHECK(grouped(8030261248) == "8,030,261,248");
  CHECK(grouped(999) == "999");
  CHECK(grouped(-1000) == "-1,000");
}

TEST_CASE("a name too long loses letters of known words first, then its middle") {
  CHECK(abbreviated("attention.qkv", 22) == "attention.qkv");
  CHECK(abbreviated("sliding.attention.kv_write", 22) == "sliding.attn.kv_write");
  const std::string cut = abbreviated("a_very_long_prefix_indeed.down_weights", 20);
  CHECK(cut == "a_very..down_weights");
}

}  // namespace
}  // namespace mansard::cli
