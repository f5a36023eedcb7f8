#include "validate/calibrate.hpp"

#include <cmath>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "hardware/catalog.hpp"

namespace mansard::validate {
namespace {

ir::Measurement matmul_row(double m, double n, double k, double seconds,
                           const std::string& file = "one.csv") {
  ir::Measurement row;
  row.machine = "h200-sxm";
  row.implementation = "cublaslt-13";
  row.mode = "graph";
  row.op = "matmul";
  row.dtype = "bf16";
  row.dims = {{"m", m}, {"n", n}, {"k", k}};
  row.median_s = seconds;
  row.location.file = std::make_shared<const SourceFile>(SourceFile{file, ""});
  return row;
}

const hardware::Machine& machine() {
  static const hardware::Machine result = *hardware::load_machine("h200-sxm");
  return result;
}

const model::Calibration& start() {
  static const model::Calibration result = *model::Calibration::of(machine());
  return result;
}

double estimate_of(const ir::Measurement& row) {
  const auto report = compare({row}, machine(), start(), {});
  REQUIRE(report);
  return report->classes.front().comparisons.front().estimate;
}

/// Rows of many weights that take what the model says times a factor that the file and the row
/// give; `spread` is that of ln(time) within a campaign.
std::vector<ir::Measurement> campaign(const std::string& file, double factor, double spread) {
  std::vector<ir::Measurement> rows;
  for (int weight = 0; weight < 24; ++weight) {
    for (const double m : {16, 64, 256}) {
      ir::Measurement row = matmul_row(m, 1024 + 512 * weight, 2048 + 256 * (weight % 7), 1, file);
      const double draw = ((weight * 7 + static_cast<int>(m) / 16) % 11 - 5) / 5.0;  // -1 to 1
      row.median_s = estimate_of(row) * factor * std::exp(spread * draw);
      rows.push_back(row);
    }
  }
  return rows;
}

std::string refusal(const std::vector<ir::Measurement>& rows) {
  const auto fits = calibrate(rows, machine(), start(), {});
  REQUIRE_FALSE(fits);
  return fits.error().front().message;
}

/// The greatest factor of the intervals below (or above) the estimate.
double greatest(const ImplementationFit& fit, std::string_view side) {
  double result = 1;
  for (const FittedParameter& interval : fit.intervals) {
    if (interval.determined && interval.path.ends_with(side)) {
      result = std::max(result, interval.value);
    }
  }
  return result;
}

ImplementationFit fitted(const std::vector<ir::Measurement>& rows,
                         std::vector<ir::Measurement> apart) {
  auto fits = calibrate(rows, machine(), start(),
                        {.keep = true, .only = {"matmul.main"}, .apart = std::move(apart)});
  REQUIRE(fits);
  return fits->front();
}

}  // namespace

TEST_CASE("rows that determine nothing are refused with the reason", "[validate][calibrate]") {
  CHECK(refusal({matmul_row(16, 4096, 4096, 1e-5)}).find("too few") != std::string::npos);
  const std::vector<ir::Measurement> one_shape(12, matmul_row(16, 4096, 4096, 1e-5));
  CHECK(refusal(one_shape).find("one shape") != std::string::npos);
  std::vector<ir::Measurement> launches;
  for (int i = 1; i <= 12; ++i) {
    launches.push_back(matmul_row(1, 8.0 * i, 64, 2e-6));
  }
  CHECK(refusal(launches).find("start time alone") != std::string::npos);
  ir::Measurement flagged = matmul_row(16, 4096, 4096, 1e-5);
  flagged.flags = {"fits_l2"};
  CHECK(refusal({flagged}).find("no unflagged row") != std::string::npos);
}

TEST_CASE("one campaign's interval reaches further than its rows, by what campaigns differ",
          "[validate][calibrate]") {
  const ImplementationFit fit = fitted(campaign("one.csv", 1, 0), {});
  // 1.645 standard deviations of 2.6 %.
  CHECK(greatest(fit, "low") == Approx(std::exp(1.645 * 0.026)).epsilon(0.01));
  CHECK(greatest(fit, "high") == Approx(std::exp(1.645 * 0.026)).epsilon(0.01));
}

TEST_CASE("a campaign that no fit saw widens the interval on its side", "[validate][calibrate]") {
  const ImplementationFit fit =
      fitted(campaign("one.csv", 1, 0.02), campaign("two.csv", 0.85, 0.02));
  CHECK(greatest(fit, "low") > 1 / 0.86);
  CHECK(greatest(fit, "high") < 1.05);
}

TEST_CASE("a row says only how far its own type's interval reaches", "[validate][calibrate]") {
  std::vector<ir::Measurement> rows = campaign("one.csv", 1, 0.02);
  std::vector<ir::Measurement> wide;
  for (ir::Measurement row : campaign("one.csv", 1, 0)) {
    row.dtype = "fp8";
    row.median_s = estimate_of(row) * 1.4;
    wide.push_back(row);
  }
  rows.insert(rows.end(), wide.begin(), wide.end());
  double half = 1;
  double narrow = 1;
  for (const FittedParameter& interval : fitted(rows, {}).intervals) {
    if (interval.path.starts_with("matmul.bf16.") && interval.path.ends_with("high")) {
      half = std::max(half, interval.value);
    } else if (interval.path.starts_with("matmul.fp8.") && interval.path.ends_with("high")) {
      narrow = std::max(narrow, interval.value);
    }
  }
  CHECK(half < 1.15);
  CHECK(narrow > 1.3);
}

TEST_CASE("measured shapes are no exceptions: neighbours take nearly as long",
          "[validate][calibrate]") {
  // Shapes of the campaign that the calibration was fitted on, and 3 % beside.
  for (const double m : {24, 96, 512, 3072}) {
    for (const double n : {4096, 6144, 14336}) {
      const double here = estimate_of(matmul_row(m, n, 4096, 1));
      const double beside = estimate_of(matmul_row(m, std::round(n * 1.03 / 64) * 64, 4096, 1));
      CHECK(std::abs(std::log(beside / here)) < 0.13);  // 3 %, and at most a wave of eleven
    }
  }
}

}  // namespace mansard::validate
