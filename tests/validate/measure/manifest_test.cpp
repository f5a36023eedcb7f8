#include "validate/measure/manifest.hpp"

#include <catch2/catch.hpp>

namespace mansard::measure {
namespace {

TEST_CASE("a manifest is JSON in the order of its members") {
  Json inner;
  inner.add("driver", "580.1");
  Json json;
  json.add("device", "say \"H200\"").add("sms", 132).add("versions", inner);
  CHECK(json.render() ==
        "{\n  \"device\": \"say \\\"H200\\\"\",\n  \"sms\": 132,\n  \"versions\": {\n"
        "    \"driver\": \"580.1\"\n  }\n}\n");
}

TEST_CASE("known devices have their machine's name, others their own") {
  CHECK(machine_id("NVIDIA H200") == "h200-sxm");
  CHECK(machine_id("NVIDIA Test 1000") == "nvidia-test-1000");
}

TEST_CASE("a date is UTC in ISO 8601") {
  const std::string date = utc_date();
  CHECK(date.size() == 20);
  CHECK(date.back() == 'Z');
}

}  // namespace
}  // namespace mansard::measure
