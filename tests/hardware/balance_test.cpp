#include "tests/hardware/machines.hpp"

namespace mansard::hardware {
namespace {

double balance(const std::string& name, const std::string& rate) {
  const Machine machine = machine_named(name);
  return value_at(machine, rate) / value_at(machine, "main.bandwidth");
}

}  // namespace

// Published balances (notes/reference-cases.md), rounded to whole FLOP/B there.
TEST_CASE("machine balance grew from V100's 139 FLOP/B to B200's 281, dense beside dense",
          "[hardware]") {
  CHECK(balance("v100-sxm2", "matrix.fp16") == Approx(139).margin(0.5));
  CHECK(balance("a100-sxm-80gb", "matrix.bf16") == Approx(153).margin(0.5));
  CHECK(balance("h100-sxm", "matrix.bf16") == Approx(295).margin(0.5));
  CHECK(balance("b200-sxm", "matrix.bf16") == Approx(281).margin(0.5));
  CHECK(balance("b200-sxm", "matrix.fp8") == Approx(562).margin(1));
}

TEST_CASE("the vendor's 1125 FLOP/B for B200 is its sparse fp8 rate", "[hardware]") {
  const Machine machine = machine_named("b200-sxm");
  CHECK(value_at(machine, "sparsity") * balance("b200-sxm", "matrix.fp8") ==
        Approx(1125).margin(1));
}

TEST_CASE("the instruction ceilings and ridges of L4 and GH200", "[hardware]") {
  // Hepkema et al., arXiv 2608.13696: measured clocks; ridge per 32-byte sector.
  const Machine l4 = machine_named("l4", {{"clock.max", "1.78 GHz"}});
  CHECK(value_at(l4, "instruction") == Approx(413e9).epsilon(0.001));
  CHECK(value_at(l4, "instruction") * 32 / value_at(l4, "main.bandwidth") ==
        Approx(44).epsilon(0.002));
  const Machine gh200 = machine_named("gh200", {{"clock.max", "1.96 GHz"}});
  CHECK(value_at(gh200, "instruction") == Approx(1037e9).epsilon(0.003));
  CHECK(value_at(gh200, "instruction") * 32 / value_at(gh200, "main.bandwidth") ==
        Approx(8.3).epsilon(0.01));
}

TEST_CASE("RTX 2060 12 GB and RTX 4090 reach their published ridge points", "[hardware]") {
  // Measured on one RTX 2060: 7.4 TFLOP/s fp32, 31.4 fp16, 303 GB/s, each trusted to about 20 %.
  const Machine turing = machine_named("rtx-2060-12gb");
  CHECK(peak_at(turing, "vector.fp32") == Approx(7.4e12).epsilon(0.25));
  CHECK(peak_at(turing, "vector.fp32") > 7.4e12);
  CHECK(peak_at(turing, "matrix.fp16") > 31.4e12);
  CHECK(value_at(turing, "gddr6.bandwidth") > 303e9);
  CHECK(balance("rtx-4090", "vector.fp32") == Approx(82).margin(0.5));
}

}  // namespace mansard::hardware
