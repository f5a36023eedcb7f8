#include "support/suggest.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace mansard {
namespace {

const std::vector<std::string> kKeys = {"bandwidth", "capacity", "latency", "name", "fp8", "fp16"};

}  // namespace

TEST_CASE("a slip of one letter, added, lost, changed or swapped, finds its word",
          "[support][suggest]") {
  for (const std::string word : {"bandwith", "bandwidht", "bandwidthh", "bandwodth", "badnwidth"}) {
    CAPTURE(word);
    CHECK(did_you_mean(word, kKeys) == "bandwidth");
  }
}

TEST_CASE("the nearest candidate wins, and the first of equals", "[support][suggest]") {
  CHECK(did_you_mean("fp18", kKeys) == "fp8");
  CHECK(did_you_mean("fp1", kKeys) == "fp8");
  CHECK(did_you_mean("fp166", kKeys) == "fp16");
}

TEST_CASE("a wrong case alone is no distance", "[support][suggest]") {
  CHECK(did_you_mean("BANDWIDTH", kKeys) == "bandwidth");
  const std::vector<std::string> units = {"mB", "MB"};
  CHECK(did_you_mean("MB", units) == "MB");
  CHECK(did_you_mean("mb", units) == "mB");
}

TEST_CASE("a word too far from all candidates has no suggestion", "[support][suggest]") {
  for (const std::string word : {"", "x", "throughput", "bnwdt", "capitalization"}) {
    CAPTURE(word);
    CHECK(did_you_mean(word, kKeys) == std::nullopt);
  }
  CHECK(did_you_mean(std::string(1 << 20, 'a'), kKeys) == std::nullopt);
  CHECK(did_you_mean("name", {}) == std::nullopt);
}

}  // namespace mansard
