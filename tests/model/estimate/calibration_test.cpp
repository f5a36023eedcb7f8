#include "model/calibration.hpp"

#include <string>

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

hardware::Machine changed(const std::string& path, const std::string& text) {
  auto result = hardware::load_machine("h200-sxm", {}, {{path, text}});
  REQUIRE(result.has_value());
  return *result;
}

Calibration of(const hardware::Machine& machine) {
  auto result = Calibration::of(machine);
  REQUIRE(result.has_value());
  return *result;
}

double value(const Calibration& calibration, const std::string& section, const std::string& name) {
  const auto found = calibration.find("", section, "", name);
  REQUIRE(found.has_value());
  return found->value;
}

TEST_CASE("a change of a memory's speed voids what was fitted to it, and says so",
          "[calibration]") {
  const Calibration measured = of(changed("power.cap", "600 W"));
  const Calibration what_if = of(changed("hbm.bandwidth", "8 TB/s"));
  CHECK(measured.notes.empty());
  REQUIRE(what_if.notes.size() == 1);
  CHECK(what_if.notes[0].find("hbm") == 0);
  CHECK(value(what_if, "matmul", "main") != value(measured, "matmul", "main"));
  CHECK(value(what_if, "matmul", "matrix") == value(measured, "matmul", "matrix"));
  CHECK(value(what_if, "collective", "start") == value(measured, "collective", "start"));
  for (const std::string section : {"rows", "matmul", "grouped_matmul"}) {
    CHECK(value(what_if, section, "interval.low") >= value(measured, section, "interval.low"));
  }
}

TEST_CASE("more of the same memory keeps its calibration", "[calibration]") {
  CHECK(of(changed("hbm.capacity", "282 GB")).notes.empty());
  CHECK(of(changed("l2.capacity", "100 MiB")).notes.size() == 1);
}

TEST_CASE("a change of a link voids what collectives were fitted to", "[calibration]") {
  const Calibration what_if = of(changed("nvlink.bandwidth", "*2"));
  const Calibration none = of(changed("power.cap", "600 W"));
  CHECK(value(what_if, "matmul", "main") == value(none, "matmul", "main"));
  CHECK(what_if.notes.size() == 1);
}

TEST_CASE("a chip with another memory than its parent's does not take what was fitted to that",
          "[calibration]") {
  const std::string text =
      "schema: 1\nname: next\nextends: h200-sxm\n"
      "sources: {guess: {title: a what-if, kind: assumed, date: 2026-11}}\n"
      "tiers: [{name: hbm, memory: hbm4, stacks: 8, source: guess}]\n";
  const auto document = parse_yaml(std::make_shared<SourceFile>(SourceFile{"next.yaml", text}));
  REQUIRE(document.has_value());
  const auto machine = hardware::read_machine(*document);
  REQUIRE(machine.has_value());
  const Calibration next = of(*machine);
  const Calibration parent = of(changed("power.cap", "600 W"));
  CHECK(next.notes.size() == 2);
  CHECK(value(next, "matmul", "main") != value(parent, "matmul", "main"));
  CHECK(value(next, "matmul", "matrix") == value(parent, "matmul", "matrix"));
}

}  // namespace
}  // namespace mansard::model
