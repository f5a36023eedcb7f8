#include "hardware/memories.hpp"

#include "tests/hardware/machines.hpp"

namespace mansard::hardware {

TEST_CASE("a stack's bandwidth is its pins times their rate", "[hardware]") {
  // GB/s of one stack or 32-bit chip as the standards' tables print them.
  const std::vector<std::pair<std::string, double>> published = {
      {"hbm2", 307},  {"hbm2e", 461}, {"hbm3", 819},  {"hbm3e", 1229},
      {"hbm4", 2048}, {"gddr6", 80},  {"gddr6x", 84}, {"gddr7", 128}};
  for (const auto& [name, gigabytes] : published) {
    CAPTURE(name);
    const auto generation = memory_generation(name);
    REQUIRE(generation.has_value());
    CHECK(generation->pins * generation->pin_rate == Approx(gigabytes * 1e9).epsilon(0.002));
  }
}

TEST_CASE("every machine's memory is a known generation, and its stacks give its bandwidth",
          "[hardware]") {
  for (const std::string& name : machine_names()) {
    CAPTURE(name);
    const Machine machine = machine_named(name);
    const auto generation = memory_generation(machine.main().technology);
    REQUIRE(generation.has_value());
    const auto stacks = machine.known("main.stacks");
    const auto pin_rate = machine.known("main.pin_rate");
    if (stacks && pin_rate) {
      CHECK(*stacks * generation->pins * *pin_rate ==
            Approx(value_at(machine, "main.bandwidth")).epsilon(0.03));
    }
  }
}

TEST_CASE("a machine may be described by its stacks alone", "[hardware]") {
  const Machine machine = value_of(read_machine(
      parsed("schema: 1\nname: next\nsources: {guess: {title: a guess, kind: assumed}}\n"
             "sm_count: {value: 100, source: guess}\n"
             "tiers:\n"
             "  - {name: hbm, scope: device, memory: hbm4, stacks: 6, pin_rate: 10 Gbit/s,\n"
             "     source: guess}\n")));
  CHECK(value_at(machine, "hbm.bandwidth") == Approx(6 * 2048 * 10e9 / 8));
  CHECK(value_at(machine, "hbm.capacity") == Approx(6 * 64e9));
}

}  // namespace mansard::hardware
