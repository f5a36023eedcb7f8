#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/hardware/machines.hpp"

namespace mansard::hardware {

TEST_CASE("every machine of the catalog loads under the name of its file", "[hardware]") {
  const std::vector<std::string> names = machine_names();
  CHECK(names.size() >= 47);
  CHECK(std::ranges::is_sorted(names));
  for (const std::string& name : names) {
    CAPTURE(name);
    const Machine machine = machine_named(name);
    CHECK(machine.name == name);
    CHECK_FALSE(machine.title.empty());
    CHECK_FALSE(machine.vendor.empty());
    CHECK_FALSE(machine.released.empty());
    CHECK(machine.changes.empty());
  }
}

TEST_CASE("every number of every machine names a source of its file", "[hardware]") {
  for (const std::string& name : machine_names()) {
    const Machine machine = machine_named(name);
    for (const Field& field : machine.fields()) {
      CAPTURE(name, field.path);
      if (machine.known(field.path)) {
        CHECK(std::ranges::count(machine.sources, field.source, &Source::id) == 1);
      }
    }
  }
}

TEST_CASE("every machine has rates, a device memory and a power of its own", "[hardware]") {
  for (const std::string& name : machine_names()) {
    CAPTURE(name);
    const Machine machine = machine_named(name);
    CHECK(value_at(machine, "sm_count") >= 1);
    CHECK(value_at(machine, "main.bandwidth") > 1e11);
    CHECK(value_at(machine, "main.capacity") > 1e9);
    CHECK(value_at(machine, "vector.fp32") > 1e12);
    CHECK_FALSE(machine.main().technology.empty());
    CHECK(machine.find("price") != nullptr);
    CHECK(machine.last_level() != nullptr);
  }
}

TEST_CASE("a peak is never below the quoted rate", "[hardware]") {
  for (const std::string& name : machine_names()) {
    const Machine machine = machine_named(name);
    for (const std::string engine : {"matrix", "vector"}) {
      for (const std::string& dtype : machine.rates(engine)) {
        const std::string path = engine + "." + dtype;
        CAPTURE(name, path);
        CHECK(peak_at(machine, path) >= value_at(machine, path));
      }
    }
  }
}

TEST_CASE("a rate is SMs x multiply-adds x 2 x clock", "[hardware]") {
  // H100 white paper: 132 SMs, 2048 dense fp16 multiply-adds per SM and clock, 1830 and 1980 MHz.
  const Machine machine = machine_named("h100-sxm");
  CHECK(value_at(machine, "matrix.bf16") == Approx(132 * 2048 * 2 * 1830e6));
  CHECK(peak_at(machine, "matrix.bf16") == Approx(132 * 2048 * 2 * 1980e6));
  // 4 schedulers an SM, one warp instruction a clock each (arXiv 2608.13696: 1037 G/s at 1.96 GHz).
  CHECK(value_at(machine, "instruction") == Approx(132 * 4 * 1980e6));
  CHECK(value_at(machine, "special") == Approx(132 * 16 * 1980e6));
  CHECK(machine.find("instruction")->dimension == kInstructionPerSecond);
}

TEST_CASE("shared memory's bandwidth is that of all SMs, a latency in clocks is at the maximum",
          "[hardware]") {
  const Machine machine = machine_named("h200-sxm");
  CHECK(value_at(machine, "shared.bandwidth") == Approx(132 * 128 * 1980e6));
  CHECK(value_at(machine, "shared.capacity") == 228 * 1024);
  CHECK(value_at(machine, "shared.latency") == Approx(29 / 1980e6));
}

TEST_CASE("an expression of a machine is over its paths and lives in the caller's pool",
          "[hardware]") {
  const Machine machine = machine_named("h200-sxm");
  ir::ExprPool pool;
  const ir::Expr rate = *machine.expr("matrix.bf16", pool);
  std::vector<std::string> symbols;
  for (const ir::Expr symbol : ir::symbols_of(rate)) {
    symbols.emplace_back(symbol->symbol);
  }
  CHECK(symbols == std::vector<std::string>{"clock.tensor", "sm_count"});
  CHECK(&rate.pool() == &pool);
  CHECK(rate.dimension() == kFlopPerSecond);
  CHECK(ir::value(rate, machine.bindings()) == value_at(machine, "matrix.bf16"));
  CHECK(machine.expr("main.bandwidth", pool)->node().symbol == "hbm.bandwidth");
}

TEST_CASE("rates are listed in the order of the file", "[hardware]") {
  CHECK(machine_named("h200-sxm").rates("matrix") ==
        std::vector<std::string>{"fp64", "tf32", "bf16", "fp16", "fp8", "int8"});
  CHECK(machine_named("p100-pcie").rates("matrix").empty());
}

TEST_CASE("tiers go from inner to outer and say what joins devices", "[hardware]") {
  const Machine machine = machine_named("gb200");
  std::vector<std::string> names;
  for (const Tier& tier : machine.tiers) {
    names.push_back(tier.name);
  }
  CHECK(names ==
        std::vector<std::string>{"register", "shared", "l2", "hbm", "host", "nvlink", "network"});
  CHECK(machine.main().name == "hbm");
  CHECK(machine.tier("nvlink")->link);
  CHECK(machine.tier("nvlink")->reduces);
  CHECK_FALSE(machine.tier("host")->link);
  CHECK(value_at(machine, "nvlink.devices") == 72);
  CHECK(machine.last_level()->name == "l2");
  CHECK(machine_named("mi300x").last_level()->name == "llc");
}

TEST_CASE("an unknown machine is refused with the name that was probably meant", "[hardware]") {
  CHECK(error_of(load_machine("h200")) ==
        "error: there is no machine 'h200' [unknown-machine]\n  did you mean 'h200-sxm'?\n");
}

TEST_CASE("a file of the folder MANSARD_DATA stands before the embedded one", "[hardware]") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "mansard-data-test/hardware/machines";
  fs::create_directories(folder);
  std::ofstream(folder / "own.yaml") << "schema: 1\nname: own\nextends: l4\nreleased: \"2026\"\n";
  setenv("MANSARD_DATA", (fs::temp_directory_path() / "mansard-data-test").c_str(), 1);
  const auto names = machine_names();
  const auto own = load_machine("own");
  unsetenv("MANSARD_DATA");
  fs::remove_all(fs::temp_directory_path() / "mansard-data-test");
  CHECK(std::ranges::count(names, "own") == 1);
  CHECK(std::ranges::count(names, "l4") == 1);
  REQUIRE(own.has_value());
  CHECK(own->ancestors == std::vector<std::string>{"l4"});
}

}  // namespace mansard::hardware
