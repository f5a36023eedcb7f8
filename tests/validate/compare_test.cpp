#include "validate/compare.hpp"

#include <cmath>

#include <catch2/catch.hpp>

#include "hardware/catalog.hpp"
#include "validate/baseline.hpp"
#include "validate/calibrate.hpp"

namespace mansard::validate {
namespace {

ir::Measurement matmul_row(double m, double n, double k, double seconds) {
  ir::Measurement row;
  row.machine = "h200-sxm";
  row.implementation = "cublaslt-13";
  row.mode = "graph";
  row.op = "matmul";
  row.dtype = "bf16";
  row.dims = {{"m", m}, {"n", n}, {"k", k}};
  row.median_s = seconds;
  return row;
}

Report compare_all(const std::vector<ir::Measurement>& rows) {
  const auto machine = hardware::load_machine("h200-sxm");
  const auto calibration = model::Calibration::of(*machine);
  return *compare(rows, *machine, *calibration, {});
}

}  // namespace

TEST_CASE("a library's version is no part of its name, but a generation is", "[validate]") {
  CHECK(without_version("cublaslt-13") == "cublaslt");
  CHECK(without_version("cudnn-9.19") == "cudnn");
  CHECK(without_version("flash-attention-2") == "flash-attention-2");
  CHECK(without_version("pytorch-eager") == "pytorch-eager");
}

TEST_CASE("errors are those of hand arithmetic", "[validate]") {
  // 10 % over, 20 % under, exact: mean 10 %, bias -10/3 %.
  const Errors errors = errors_of({1.1, 0.8, 1.0}, {1, 1, 1});
  CHECK(errors.mape == Approx(0.1));
  CHECK(errors.bias == Approx(-0.1 / 3));
  CHECK(errors.median == Approx(0.1));
  CHECK(errors.mean_abs_log == Approx((std::log(1.1) - std::log(0.8)) / 3));
}

TEST_CASE("a row beats the bound only beyond two per cent and its clock's step", "[validate]") {
  ir::Measurement row = matmul_row(1, 1, 1, 0.97e-3);
  Comparison comparison{.row = &row, .bound = 1e-3};
  CHECK(comparison.violates());
  row.resolution_s = 0.02e-3;
  CHECK_FALSE(comparison.violates());
  row.resolution_s = 0;
  row.median_s = 0.985e-3;
  CHECK_FALSE(comparison.violates());
}

TEST_CASE("the bound of a large matmul is its FLOP at the greatest clock", "[validate]") {
  // 2 x 8192^3 FLOP over 132 SM x 4096 FLOP/clk x 1980 MHz.
  const Report report = compare_all({matmul_row(8192, 8192, 8192, 1.4e-3)});
  REQUIRE(report.classes.size() == 1);
  const double expected = 2 * std::pow(8192.0, 3) / (132.0 * 4096 * 1980e6);
  CHECK(report.classes.front().comparisons.front().bound == Approx(expected));
}

TEST_CASE("flagged rows are scored apart and other machines' rows left out", "[validate]") {
  ir::Measurement flagged = matmul_row(16, 4096, 4096, 1e-5);
  flagged.flags = {"fits_l2"};
  ir::Measurement other = matmul_row(16, 4096, 4096, 1e-5);
  other.machine = "l4";
  const Report report = compare_all({matmul_row(16, 4096, 4096, 1e-5), flagged, other});
  REQUIRE(report.classes.size() == 1);
  CHECK(report.classes.front().rows == 1);
  CHECK(report.classes.front().flagged == 1);
  CHECK(report.other_machines == 1);
}

TEST_CASE("an op that the model does not know is skipped with the reason", "[validate]") {
  ir::Measurement row = matmul_row(1, 1, 1, 1);
  row.op = "sort";
  const Report report = compare_all({row});
  CHECK(report.classes.front().skipped == 1);
  CHECK(report.classes.front().skip_reasons.front() == "the model has no op for 'sort'");
}

TEST_CASE("the three-constant roofline recovers its own constants", "[validate]") {
  std::vector<ir::Measurement> rows(40);
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double compute = 1e-6 * std::pow(1.3, static_cast<double>(i % 20));
    const double memory = 1e-6 * std::pow(1.3, static_cast<double>((i * 7) % 20));
    rows[i].median_s = 4e-6 + std::max(compute / 0.6, memory / 0.9);
    comparisons.push_back({.row = &rows[i], .compute = compute, .memory = memory});
  }
  const std::vector<double> estimates = three_constant_estimates(comparisons);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(estimates[i] == Approx(rows[i].median_s).epsilon(0.02));
  }
}

TEST_CASE("calibration refuses rows that determine nothing, and says why", "[validate]") {
  const auto machine = hardware::load_machine("h200-sxm");
  const auto start = model::Calibration::of(*machine);
  const auto fit = [&](const std::vector<ir::Measurement>& rows) {
    return calibrate(rows, *machine, *start, {});
  };
  CHECK(fit({matmul_row(1, 4096, 4096, 1e-5)}).error().front().message ==
        "cublaslt: 1 rows are too few to fit (at least 8)");
  CHECK(fit(std::vector<ir::Measurement>(9, matmul_row(1, 4096, 4096, 1e-5)))
            .error()
            .front()
            .message == "cublaslt: all rows are of one shape");
}

TEST_CASE("calibration recovers a start time from rows that the model made", "[validate]") {
  ir::Measurement row;
  row.machine = "h200-sxm";
  row.implementation = "pytorch-eager";
  row.mode = "graph";
  row.op = "gelu";
  row.dtype = "bf16";
  const auto machine = hardware::load_machine("h200-sxm");
  const auto start = model::Calibration::of(*machine);
  std::vector<ir::Measurement> rows;
  for (double columns = 1024; columns <= 1 << 22; columns *= 2) {
    row.dims = {{"rows", 16}, {"cols", columns}};
    row.median_s = 1;
    rows.push_back(row);
  }
  const Report made = *compare(rows, *machine, *start, {});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].median_s = 1.1 * made.classes.front().comparisons[i].estimate;
  }
  const auto fits = calibrate(rows, *machine, *start, {});
  REQUIRE(fits.has_value());
  CHECK(fits->front().classes.front().in_sample.mape < 0.03);
  CHECK(fits->front().rows.size() == rows.size());
}

}  // namespace mansard::validate
