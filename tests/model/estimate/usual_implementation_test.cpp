#include <memory>

#include <catch2/catch.hpp>

#include "model/calibration.hpp"

namespace mansard::model {
namespace {

TEST_CASE("who usually does an op may depend on its format", "[estimate]") {
  const auto calibration =
      parse_yaml(std::make_shared<const SourceFile>(SourceFile{"calibration.yaml", R"(
schema: 1
machine: test
usual: {grouped_matmul: narrow, grouped_matmul.bf16: wide}
implementations:
  narrow: {grouped_matmul.start: 1 us, grouped_matmul.fp8.start: 2 us}
  wide: {grouped_matmul.bf16.start: 3 us}
)"}))
          .and_then([](const Node& document) { return Calibration::read(document); });
  REQUIRE(calibration);
  const auto start = [&](const char* variant) {
    return calibration->find("", "grouped_matmul", variant, "start")->value;
  };
  CHECK(start("bf16") == 3e-6);
  CHECK(start("bf16.int4_wo") == 3e-6);
  CHECK(start("fp8") == 2e-6);
  CHECK(start("int8") == 1e-6);
}

}  // namespace
}  // namespace mansard::model
