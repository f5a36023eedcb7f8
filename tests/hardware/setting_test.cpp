#include "tests/hardware/machines.hpp"

namespace mansard::hardware {
namespace {

double after(const std::string& name, const std::vector<Setting>& settings,
             const std::string& path) {
  return value_at(machine_named(name, settings), path);
}

}  // namespace

TEST_CASE("a setting replaces, scales or adds", "[hardware]") {
  CHECK(after("h200-sxm", {{"hbm.bandwidth", "8 TB/s"}}, "hbm.bandwidth") == 8e12);
  CHECK(after("h200-sxm", {{"hbm.bandwidth", "*1.5"}}, "hbm.bandwidth") == Approx(7.2e12));
  CHECK(after("h200-sxm", {{"hbm.bandwidth", "+1 TB/s"}}, "hbm.bandwidth") == Approx(5.8e12));
  CHECK(after("h200-sxm", {{"hbm.bandwidth", "-0.8 TB/s"}}, "hbm.bandwidth") == Approx(4e12));
  CHECK(after("h200-sxm", {{"price", "3.6 USD/h"}}, "price") == Approx(0.001));
  CHECK(after("h200-sxm", {{"nvlink.latency", "1 us"}}, "nvlink.latency") == Approx(1e-6));
}

TEST_CASE("main. names the device memory whatever its technology", "[hardware]") {
  CHECK(after("l4", {{"main.bandwidth", "600 GB/s"}}, "gddr6.bandwidth") == 600e9);
}

TEST_CASE("twice the SMs are twice every rate of SMs", "[hardware]") {
  const Machine before = machine_named("h200-sxm");
  const Machine machine = machine_named("h200-sxm", {{"sm_count", "*2"}});
  for (const std::string path :
       {"matrix.bf16", "vector.fp32", "special", "instruction", "shared.bandwidth"}) {
    CAPTURE(path);
    CHECK(value_at(machine, path) == Approx(2 * value_at(before, path)));
  }
  CHECK(value_at(machine, "hbm.bandwidth") == value_at(before, "hbm.bandwidth"));
}

TEST_CASE("rates move with their clock, peaks with the greatest", "[hardware]") {
  const Machine before = machine_named("h200-sxm");
  const Machine tensor = machine_named("h200-sxm", {{"clock.tensor", "915 MHz"}});
  CHECK(value_at(tensor, "matrix.bf16") == Approx(value_at(before, "matrix.bf16") / 2));
  CHECK(peak_at(tensor, "matrix.bf16") == peak_at(before, "matrix.bf16"));
  const Machine fast = machine_named("h200-sxm", {{"clock.max", "*2"}});
  CHECK(peak_at(fast, "matrix.bf16") == Approx(2 * peak_at(before, "matrix.bf16")));
  CHECK(value_at(fast, "shared.latency") == Approx(value_at(before, "shared.latency") / 2));
}

TEST_CASE("no clock stays above a lowered maximum, a raised clock raises the maximum",
          "[hardware]") {
  const Machine low = machine_named("h200-sxm", {{"clock.max", "1.2 GHz"}});
  CHECK(value_at(low, "clock.tensor") == 1.2e9);
  CHECK(value_at(low, "clock.sustained") == 1.2e9);
  CHECK(low.changes.back() == "clock.sustained 1.485 GHz -> 1.2 GHz (not above clock.max)");
  CHECK(after("h200-sxm", {{"clock.tensor", "2.2 GHz"}}, "clock.max") == 2.2e9);
}

TEST_CASE("a setting on a derived figure replaces its formula and its peak", "[hardware]") {
  const Machine machine =
      machine_named("h200-sxm", {{"matrix.fp8", "3 PFLOP/s"}, {"sm_count", "264"}});
  CHECK(value_at(machine, "matrix.fp8") == 3e15);
  CHECK(peak_at(machine, "matrix.fp8") == 3e15);
  CHECK_FALSE(machine.find("matrix.fp8")->formula);
  CHECK(value_at(machine, "matrix.bf16") > 1.9e15);
}

TEST_CASE("a rate that the chip lacks can be supposed", "[hardware]") {
  const Machine machine = machine_named("h200-sxm", {{"matrix.fp4", "4 PFLOP/s"}});
  CHECK(value_at(machine, "matrix.fp4") == 4e15);
  CHECK(machine.rates("matrix").back() == "fp4");
}

TEST_CASE("what was changed is marked and said in a sentence", "[hardware]") {
  const Machine machine =
      machine_named("h200-sxm", {{"hbm.bandwidth", "8 TB/s"}, {"power.cap", "*0.5"}});
  CHECK(machine.changed("hbm"));
  CHECK(machine.changed("main"));
  CHECK(machine.changed("power"));
  CHECK_FALSE(machine.changed("matrix"));
  CHECK(machine.find("hbm.bandwidth")->source == "--set");
  CHECK(machine.changes.front() == "hbm.bandwidth 4.8 TB/s -> 8 TB/s (--set)");
  CHECK(machine.changes.back() == "power.cap 700 W -> 350 W (--set)");
}

TEST_CASE("more stacks are more bandwidth and more capacity", "[hardware]") {
  const Machine machine = machine_named("h200-sxm", {{"hbm.stacks", "8"}});
  CHECK(value_at(machine, "hbm.bandwidth") == Approx(8 * 1024 * 6.402e9 / 8));
  CHECK(value_at(machine, "hbm.capacity") == Approx(141e9 / 6 * 8));
  CHECK(machine.changed("hbm"));
}

TEST_CASE("a changed capacity voids what was usable of the old one", "[hardware]") {
  const Machine machine = machine_named("h200-sxm", {{"hbm.capacity", "100 TB"}});
  CHECK(value_at(machine, "hbm.capacity") == 100e12);
  CHECK_FALSE(machine.known("hbm.usable"));
}

TEST_CASE("a setting that cannot be is refused at its place", "[hardware]") {
  const auto refused = [](const std::string& path, const std::string& text) {
    return error_of(load_machine("h200-sxm", {}, {{path, text}}));
  };
  CHECK(refused("hbm.bandwith", "8 TB/s") ==
        "--set:1:1: error: machine 'h200-sxm' has no field 'hbm.bandwith' [unknown-field]\n"
        "  1 | hbm.bandwith=8 TB/s\n"
        "    | ^^^^^^^^^^^^ did you mean 'hbm.bandwidth'?\n");
  CHECK(refused("hbm.bandwidth", "8 TB") ==
        "--set:1:17: error: expected a rate, found an amount of data [unit-dimension]\n"
        "  1 | hbm.bandwidth=8 TB\n"
        "    |                 ^^ write TB/s\n");
  CHECK(refused("sm_count", "-400").find("[not-positive]") != std::string::npos);
  CHECK(refused("sm_count", "1e300").find("[out-of-range]") != std::string::npos);
  CHECK(refused("hbm.bandwidth", "*0").find("[not-positive]") != std::string::npos);
  CHECK(refused("l2.bandwidth", "*2").find("[unknown-value]") != std::string::npos);
  CHECK(refused("hbm.colour", "2").find("[unknown-field]") != std::string::npos);
}

}  // namespace mansard::hardware
