#include "validate/tolerance.hpp"

#include <catch2/catch.hpp>

namespace mansard::validate {
namespace {

ClassReport matmul(const std::string& dtype, double mape) {
  ClassReport report{
      .op = "matmul", .dtype = dtype, .implementation = "cublaslt-13", .mode = "graph", .rows = 10};
  report.errors.mape = mape;
  return report;
}

std::vector<Tolerance> stated(std::initializer_list<const char*> texts) {
  std::vector<Tolerance> result;
  for (const char* text : texts) {
    result.push_back(*parse_tolerance(text));
  }
  return result;
}

TEST_CASE("a tolerance is a number of per cent, alone or for a class") {
  CHECK(parse_tolerance("7")->mape == Approx(0.07));
  CHECK(parse_tolerance("attention/decode=12.5%")->words ==
        std::vector<std::string>{"attention", "decode"});
  for (const char* bad : {"", "x", "matmul=", "7 %", "-1", "nan", "1e999"}) {
    INFO(bad);
    CHECK_FALSE(parse_tolerance(bad));
  }
}

TEST_CASE("the tolerance with the most words that fits a class counts") {
  Report report;
  report.classes = {matmul("bf16", 0.08), matmul("fp8", 0.08)};
  const auto tolerances = stated({"5", "matmul/fp8=10", "cublaslt=6"});
  const auto found = excesses(report, tolerances);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  CHECK(found->front().report->dtype == "bf16");
  CHECK(found->front().tolerance->text == "cublaslt=6");
}

TEST_CASE("a class without rows exceeds nothing; a tolerance for no class is refused") {
  Report report;
  report.classes = {matmul("bf16", 0.5)};
  report.classes.front().rows = 0;
  CHECK(excesses(report, stated({"1"}))->empty());
  CHECK_FALSE(excesses(report, stated({"attention=1"})));
}

}  // namespace
}  // namespace mansard::validate
