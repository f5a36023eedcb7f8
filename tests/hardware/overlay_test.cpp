#include <algorithm>

#include "tests/hardware/machines.hpp"

namespace mansard::hardware {
namespace {

Machine with(const std::string& name, const std::string& overlay) {
  return value_of(apply_overlay(machine_named(name), parsed(overlay, "next.yaml")));
}

}  // namespace

TEST_CASE("an overlay has the keys of a machine file and changes what it states", "[hardware]") {
  const Machine machine = with("h200-sxm",
                               "sm_count: 160\n"
                               "clock: {max: \"*1.1\"}\n"
                               "matrix: {bf16: {fma: 4096}, fp4: {rate: 8 PFLOP/s}}\n"
                               "tiers:\n"
                               "  - {name: main, bandwidth: 8 TB/s}\n"
                               "  - {name: nvlink, bandwidth: \"+450 GB/s\"}\n"
                               "price: {value: 5 USD/h}\n");
  CHECK(value_at(machine, "matrix.bf16") == Approx(160 * 4096 * 2 * 1830e6));
  CHECK(peak_at(machine, "matrix.bf16") == Approx(160 * 4096 * 2 * 1980e6 * 1.1));
  CHECK(value_at(machine, "matrix.fp4") == 8e15);
  CHECK(value_at(machine, "hbm.bandwidth") == 8e12);
  CHECK(value_at(machine, "nvlink.bandwidth") == 900e9);
  CHECK(value_at(machine, "price") == Approx(5.0 / 3600));
  CHECK(machine.find("sm_count")->source == "next.yaml");
  CHECK(machine.find("sm_count")->kind == FigureKind::kAssumed);
  CHECK(machine.changes.front() == "sm_count 132 -> 160 (next.yaml)");
}

TEST_CASE("an overlay may also name paths", "[hardware]") {
  const Machine machine =
      with("h200-sxm", "set: {hbm.bandwidth: \"*2\", l2.bandwidth: 20 TB/s, sm_count: 66}\n");
  CHECK(value_at(machine, "hbm.bandwidth") == Approx(9.6e12));
  CHECK(value_at(machine, "l2.bandwidth") == 20e12);
  CHECK(value_at(machine, "sm_count") == 66);
}

TEST_CASE("a hypothetical memory follows from stacks, generation and pin rate", "[hardware]") {
  // HBM4: 2048 pins a stack, 8 Gbit/s in the standard, 64 GB a stack at most.
  const Machine standard = with("h200-sxm", "tiers: [{name: hbm, memory: hbm4, stacks: 8}]\n");
  CHECK(value_at(standard, "hbm.bandwidth") == Approx(8 * 2048 * 8e9 / 8));
  CHECK(value_at(standard, "hbm.capacity") == Approx(8 * 64e9));
  CHECK(standard.main().technology == "hbm4");
  CHECK(std::ranges::count(standard.changes, "hbm: memory hbm3e -> hbm4 (next.yaml)") == 1);

  const Machine fast = with("h200-sxm",
                            "tiers:\n"
                            "  - {name: hbm, memory: hbm4, stacks: 8, pin_rate: 10.74 Gbit/s,\n"
                            "     stack_capacity: 36 GB}\n");
  CHECK(value_at(fast, "hbm.bandwidth") == Approx(22e12).epsilon(0.001));  // Rubin's
  CHECK(value_at(fast, "hbm.capacity") == Approx(288e9));
}

TEST_CASE("a stated bandwidth stands whatever the stacks", "[hardware]") {
  const Machine machine =
      with("h200-sxm", "tiers: [{name: hbm, memory: hbm4, stacks: 8, bandwidth: 12 TB/s}]\n");
  CHECK(value_at(machine, "hbm.bandwidth") == 12e12);
  CHECK(value_at(machine, "hbm.capacity") == Approx(8 * 64e9));
}

TEST_CASE("an overlay adds and takes away tiers", "[hardware]") {
  const Machine machine =
      with("h200-sxm",
           "tiers:\n"
           "  - {name: cxl, scope: node, capacity: 2 TB, bandwidth: 64 GB/s, latency: 300 ns}\n"
           "  - {name: network, absent: true}\n");
  CHECK(value_at(machine, "cxl.bandwidth") == 64e9);
  CHECK(machine.tier("cxl") != nullptr);
  CHECK(machine.tier("network") == nullptr);
  CHECK(machine.find("network.bandwidth") == nullptr);
}

TEST_CASE("an overlay's figures may name sources of the overlay", "[hardware]") {
  const Machine machine = with("h200-sxm",
                               "sources: {probe-2: {title: a second probe, kind: measured}}\n"
                               "launch: {graph: 0.8 us, source: probe-2}\n");
  CHECK(machine.find("launch.graph")->kind == FigureKind::kMeasured);
}

TEST_CASE("an overlay that names what is not there is refused", "[hardware]") {
  const auto refused = [](const std::string& overlay) {
    return error_of(apply_overlay(machine_named("h200-sxm"), parsed(overlay, "next.yaml")));
  };
  CHECK(refused("tiers: [{name: hmb, bandwidth: 8 TB/s}]\n") ==
        "next.yaml:1:16: error: machine 'h200-sxm' has no tier 'hmb' [unknown-tier]\n"
        "  1 | tiers: [{name: hmb, bandwidth: 8 TB/s}]\n"
        "    |                ^^^ did you mean 'hbm'?\n");
  CHECK(refused("tiers: [{name: hbm, memory: hbm5}]\n") ==
        "next.yaml:1:29: error: there is no memory 'hbm5' [unknown-memory]\n"
        "  1 | tiers: [{name: hbm, memory: hbm5}]\n"
        "    |                             ^^^^ did you mean 'hbm2'?\n");
  CHECK(refused("sm_cuont: 3\nset: {hbm.bandwith: 8 TB/s}\n").find("did you mean 'sm_count'?") !=
        std::string::npos);
  CHECK(refused("set: {hbm.bandwith: 8 TB/s, main.bandwidth: 8 TB}\n") ==
        "next.yaml:1:7: error: machine 'h200-sxm' has no field 'hbm.bandwith' [unknown-field]\n"
        "  1 | set: {hbm.bandwith: 8 TB/s, main.bandwidth: 8 TB}\n"
        "    |       ^^^^^^^^^^^^ did you mean 'hbm.bandwidth'?\n"
        "next.yaml:1:47: error: expected a rate, found an amount of data [unit-dimension]\n"
        "  1 | set: {hbm.bandwith: 8 TB/s, main.bandwidth: 8 TB}\n"
        "    |                                               ^^ write TB/s\n");
}

}  // namespace mansard::hardware
