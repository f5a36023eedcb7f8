#include "tests/hardware/machines.hpp"

namespace mansard::hardware {
namespace {

constexpr const char* kUnknownClock =
    "schema: 1\n"
    "name: next\n"
    "sources: {guess: {title: a guess, kind: assumed}}\n"
    "sm_count: {value: 100, source: guess}\n"
    "clock: {max: null}\n"
    "special: {per_sm: 16/clk, source: guess}\n"
    "matrix:\n"
    "  bf16: {fma: 4096, clock: max, source: guess}\n"
    "  fp8: {rate: null, source: guess}\n"
    "tiers:\n"
    "  - {name: hbm, scope: device, memory: hbm4, capacity: 288 GB, bandwidth: null, source: "
    "guess}\n";

std::string failure_of(const Machine& machine, const std::string& path) {
  const auto value = machine.value(path);
  REQUIRE_FALSE(value.has_value());
  ir::ExprPool pool;
  CHECK_FALSE(machine.expr(path, pool).has_value());
  CHECK_FALSE(machine.known(path).has_value());
  return render(value.error());
}

}  // namespace

TEST_CASE("an unknown names its field, its machine and where null stands", "[hardware]") {
  const Machine machine = value_of(read_machine(parsed(kUnknownClock, "next.yaml")));
  CHECK(
      failure_of(machine, "main.bandwidth") ==
      "next.yaml:11:75: error: hbm.bandwidth of machine 'next' is unknown (null) "
      "[unknown-value]\n"
      "  11 |   - {name: hbm, scope: device, memory: hbm4, capacity: 288 GB, bandwidth: null, "
      "source: guess}\n"
      "     |                                                                           ^^^^ give "
      "it with --set or an overlay\n");
}

TEST_CASE("what is derived from an unknown is unknown for the same reason", "[hardware]") {
  const Machine machine = value_of(read_machine(parsed(kUnknownClock, "next.yaml")));
  for (const std::string path : {"matrix.bf16", "special"}) {
    CHECK(failure_of(machine, path).find("clock.max of machine 'next' is unknown (null)") !=
          std::string::npos);
  }
  CHECK(machine.rates("matrix") == std::vector<std::string>{"bf16"});
  CHECK(failure_of(machine, "launch.graph").find("not stated") != std::string::npos);
}

TEST_CASE("Rubin's unknown clock can be supposed", "[hardware]") {
  CHECK_FALSE(machine_named("rubin").known("instruction"));
  const Machine machine =
      machine_named("rubin", {{"clock.max", "2.2 GHz"}, {"special.per_sm", "16/clk"}});
  CHECK(value_at(machine, "instruction") == Approx(224 * 4 * 2.2e9));
  CHECK(value_at(machine, "special") == Approx(224 * 16 * 2.2e9));
}

TEST_CASE("a field that no machine has is refused with the one that was probably meant",
          "[hardware]") {
  CHECK(failure_of(machine_named("h200-sxm"), "hbm.bandwdith")
            .find("machine 'h200-sxm' has no field 'hbm.bandwdith'") != std::string::npos);
}

TEST_CASE("measured figures, launch times and price are not inherited", "[hardware]") {
  const Machine machine = value_of(
      read_machine(parsed("schema: 1\nname: next\nextends: h200-sxm\nreleased: announced\n")));
  CHECK(value_at(machine, "hbm.bandwidth") == 4.8e12);
  CHECK(value_at(machine, "matrix.tf32") > 400e12);
  CHECK(machine.ancestors == std::vector<std::string>{"h200-sxm", "h100-sxm"});
  CHECK(failure_of(machine, "l2.capacity").find("measured on h200-sxm only") != std::string::npos);
  CHECK_FALSE(machine.known("price"));
  CHECK_FALSE(machine.known("launch.graph"));
  CHECK(machine.notes.empty());
}

constexpr const char* kWhatIf =
    "schema: 1\nname: next\nextends: h200-sxm\n"
    "sources: {guess: {title: a what-if, kind: assumed, date: 2026-11}}\n";

TEST_CASE("a what-if keeps what was measured of the parts that it leaves alone", "[hardware]") {
  const Machine machine = value_of(
      read_machine(parsed(std::string(kWhatIf) + "sm_count: {value: 160, source: guess}\n")));
  CHECK(value_at(machine, "clock.max") == 1980e6);
  CHECK(value_at(machine, "vector.bf16") == Approx(160 * 512 * 1980e6));
  CHECK(value_at(machine, "hbm.bandwidth") == 4.8e12);
  CHECK_FALSE(machine.known("price"));
}

TEST_CASE("a memory of another generation brings its own bandwidth and capacity", "[hardware]") {
  const Machine machine = value_of(read_machine(parsed(
      std::string(kWhatIf) + "tiers: [{name: hbm, memory: hbm4, stacks: 8, source: guess}]\n")));
  CHECK(value_at(machine, "hbm.bandwidth") == Approx(8 * 2048 * 8e9 / 8));
  CHECK(value_at(machine, "hbm.capacity") == Approx(8 * 64e9));
  CHECK_FALSE(machine.known("hbm.measured_bandwidth"));
}

TEST_CASE("an inherited figure still names the document it was taken from", "[hardware]") {
  const Machine machine = machine_named("h200-sxm");
  CHECK(machine.find("hbm.bandwidth")->source == "datasheet");
  CHECK(machine.find("sm_count")->source == "h100-sxm/datasheet");
}

}  // namespace mansard::hardware
