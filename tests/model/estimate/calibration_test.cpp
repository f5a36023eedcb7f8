#include "model/calibration.hpp"

#include <catch2/catch.hpp>

#include "hardware/catalog.hpp"

namespace mansard::model {
namespace {

Calibration read(const std::string& text) {
  auto document = parse_yaml(std::make_shared<const SourceFile>(SourceFile{"test.yaml", text}));
  REQUIRE(document.has_value());
  auto result = Calibration::read(*document);
  REQUIRE(result.has_value());
  return *result;
}

constexpr const char* kText = R"(
schema: 1
machine: test
usual: {matmul: lib}
parameters: {matmul.start: 1 us}
implementations:
  lib: {matmul.start: 2 us, matmul.bf16.start: 3 us}
  other: {matmul.start: 4 us, matmul.bf16.a4.start: 5 us}
)";

double start(const Calibration& calibration, const std::string& implementation,
             const std::string& variant) {
  const auto found = calibration.find(implementation, "matmul", variant, "start");
  REQUIRE(found.has_value());
  return found->value;
}

TEST_CASE("a parameter of a special variant comes before that of a general one", "[calibration]") {
  const Calibration calibration = read(kText);
  CHECK(start(calibration, "lib", "bf16") == Approx(3e-6));
  CHECK(start(calibration, "lib", "bf16.a2") == Approx(3e-6));
  CHECK(start(calibration, "lib", "fp8") == Approx(2e-6));
  CHECK(start(calibration, "other", "bf16.a4") == Approx(5e-6));
}

TEST_CASE("an implementation without parameters takes those of the usual one", "[calibration]") {
  const Calibration calibration = read(kText);
  CHECK(start(calibration, "", "fp8") == Approx(2e-6));
  CHECK(start(calibration, "unheard", "bf16") == Approx(3e-6));
  CHECK(start(calibration, "other", "bf16") == Approx(4e-6));
}

TEST_CASE("a machine inherits its family's constants where it has none", "[calibration]") {
  const auto of = [](const std::string& name) {
    auto machine = hardware::load_machine(name);
    REQUIRE(machine.has_value());
    auto calibration = Calibration::of(*machine);
    REQUIRE(calibration.has_value());
    return *calibration;
  };
  const Calibration ampere = of("a40");
  const Calibration ada = of("l4");
  const Calibration other = of("mi300x");
  CHECK(start(ampere, "", "bf16") == start(ada, "", "bf16"));
  CHECK(start(ampere, "", "bf16") != start(other, "", "bf16"));
  CHECK_FALSE(ampere.calibrated());
}

}  // namespace
}  // namespace mansard::model
