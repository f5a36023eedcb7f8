#include "tests/hardware/machines.hpp"

namespace mansard::hardware {
namespace {

void check_same(const Machine& a, const Machine& b) {
  CHECK(a.name == b.name);
  CHECK(a.sources.size() == b.sources.size());
  CHECK(a.notes == b.notes);
  CHECK(a.tiers.size() == b.tiers.size());
  REQUIRE(a.fields().size() == b.fields().size());
  for (const Field& field : a.fields()) {
    CAPTURE(field.path);
    const Field* other = b.find(field.path);
    REQUIRE(other != nullptr);
    CHECK(other->kind == field.kind);
    CHECK(other->source == field.source);
    const auto value = a.known(field.path);
    REQUIRE(b.known(field.path).has_value() == value.has_value());
    if (value) {
      CHECK(*b.known(field.path) == Approx(*value).epsilon(1e-9));
      CHECK(peak_at(b, field.path) == Approx(peak_at(a, field.path)).epsilon(1e-9));
    }
  }
}

}  // namespace

TEST_CASE("a printed machine is a machine file that says the same", "[hardware]") {
  for (const std::string& name : machine_names()) {
    CAPTURE(name);
    const Machine machine = machine_named(name);
    check_same(machine, value_of(read_machine(parsed(print_machine(machine)))));
  }
}

TEST_CASE("a changed machine can be printed and kept", "[hardware]") {
  const Machine machine =
      machine_named("h200-sxm", {{"hbm.stacks", "8"}, {"matrix.fp8", "*1.5"}, {"sm_count", "160"}});
  const Machine again = value_of(read_machine(parsed(print_machine(machine))));
  for (const std::string path : {"hbm.bandwidth", "hbm.capacity", "matrix.fp8", "matrix.bf16"}) {
    CHECK(value_at(again, path) == Approx(value_at(machine, path)));
  }
}

TEST_CASE("a print says unit, kind and source of a number", "[hardware]") {
  const std::string text = print_machine(machine_named("h200-sxm"));
  for (const std::string line :
       {"    bandwidth: {value: 4.8 TB/s, source: \"datasheet\"} # datasheet\n",
        "  bf16: {fma: 2048, clock: tensor, source: \"h100-sxm/datasheet\"} # 989.4 TFLOP/s, "
        "derived\n",
        "    capacity: {value: 60 MiB, source: \"driver\"} # measured\n",
        "    bandwidth: {value: null} # unknown\n", "# extends h100-sxm\n"}) {
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

}  // namespace mansard::hardware
