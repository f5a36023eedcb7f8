#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "hardware/catalog.hpp"
#include "support/document.hpp"
#include "validate/compare.hpp"
#include "validate/measurements.hpp"

/// The example of validate/examples/rtx-2060: published measurements of one card beside the model
/// with that card's measured ceilings.
namespace mansard::validate {
namespace {

const std::string kFolder = MANSARD_EXAMPLES "/rtx-2060/";

struct Example {
  hardware::Machine machine;
  model::Calibration calibration;
  std::vector<ir::Measurement> rows;
};

Example example() {
  auto machine = hardware::load_machine("rtx-2060-12gb", {kFolder + "ceilings.yaml"}, {});
  auto calibration = read_document(kFolder + "calibration.yaml").and_then(model::Calibration::read);
  auto rows = read_file(kFolder + "rows.csv").and_then(read_measurements);
  REQUIRE(machine);
  REQUIRE(calibration);
  REQUIRE(rows);
  return {*machine, *calibration, *rows};
}

ir::Measurement logits(double tokens) {
  ir::Measurement row;
  row.machine = "rtx-2060-12gb";
  row.implementation = "pytorch";
  row.mode = "eager";
  row.op = "matmul";
  row.dtype = "fp32";
  row.dims = {{"m", tokens}, {"n", 50257}, {"k", 768}};
  row.median_s = 1;
  return row;
}

Comparison compared(const Example& example, const ir::Measurement& row) {
  const auto report = compare({row}, example.machine, example.calibration, {});
  REQUIRE(report);
  REQUIRE(report->classes.front().comparisons.size() == 1);
  Comparison result = report->classes.front().comparisons.front();
  result.row = nullptr;
  return result;
}

TEST_CASE("RTX 2060: ridge points follow from the measured ceilings") {
  const Example e = example();
  const double bandwidth = *e.machine.value("main.bandwidth");
  CHECK(*e.machine.value("vector.fp32") / bandwidth == Approx(24.4).epsilon(0.01));
  CHECK(*e.machine.value("matrix.fp16") / bandwidth == Approx(103.7).epsilon(0.01));
}

TEST_CASE(
    "RTX 2060: the knee of the logits matmul lies at 49 to 53 tokens, measured between 32 and 64") {
  const Example e = example();
  double knee = 1;
  for (; knee < 128; ++knee) {
    const Comparison c = compared(e, logits(knee));
    if (c.compute >= c.memory) {
      break;
    }
  }
  // 24.4 FLOP/B x 4 bytes / 2 FLOP = 48.8 for the weights alone; the logits written add four.
  CHECK(knee >= 49);
  CHECK(knee <= 53);
}

TEST_CASE(
    "RTX 2060: from 1 to 32 tokens the logits matmul takes as long, and twice as many double it") {
  const Example e = example();
  const double one = compared(e, logits(1)).estimate;
  const double thirty_two = compared(e, logits(32)).estimate;
  CHECK(thirty_two / one < 1.2);
  CHECK(compared(e, logits(128)).estimate / compared(e, logits(64)).estimate ==
        Approx(2).epsilon(0.1));
}

TEST_CASE("RTX 2060: a tiny matmul and a tiny addition take what issuing them takes") {
  const Example e = example();
  for (const ir::Measurement& row : e.rows) {
    const auto m = row.dims.find("m");
    if (row.op == "add" || (m != row.dims.end() && m->second == 8 && row.dims.at("n") == 8)) {
      CHECK(compared(e, row).estimate == Approx(row.median_s).epsilon(0.01));
    }
  }
}

TEST_CASE(
    "RTX 2060: fp32 matmuls are met within the card's 20 % but for two, and none beats its bound") {
  const Example e = example();
  const auto report = compare(e.rows, e.machine, e.calibration, {});
  REQUIRE(report);
  const auto fp32 = std::find_if(
      report->classes.begin(), report->classes.end(),
      [](const ClassReport& one) { return one.op == "matmul" && one.dtype == "fp32"; });
  REQUIRE(fp32 != report->classes.end());
  CHECK(fp32->rows == 14);
  CHECK(fp32->errors.mape < 0.10);
  CHECK(fp32->errors.mape < 0.5 * fp32->roofline_mape);
  for (const ClassReport& one : report->classes) {
    CHECK(one.bound_violations == 0);
  }
  const auto far = std::count_if(
      fp32->comparisons.begin(), fp32->comparisons.end(),
      [](const Comparison& c) { return std::abs(c.estimate / c.row->median_s - 1) > 0.20; });
  CHECK(far <= 2);
}

}  // namespace
}  // namespace mansard::validate
