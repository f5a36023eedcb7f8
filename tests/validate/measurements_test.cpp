#include "validate/measurements.hpp"

#include <memory>
#include <string>

#include <catch2/catch.hpp>

namespace mansard::validate {
namespace {

Result<std::vector<ir::Measurement>> read(std::string text) {
  return read_measurements(
      std::make_shared<const SourceFile>(SourceFile{"rows.csv", std::move(text)}));
}

constexpr const char* kHeader = "machine,implementation,mode,op,dtype,m,median_us,flag,source\n";

}  // namespace

TEST_CASE("numeric columns become dims and microseconds become seconds", "[validate]") {
  const auto rows =
      read(std::string(kHeader) + "h200-sxm,cublaslt-13,graph,matmul,bf16,16,2.5,,x\n");
  REQUIRE(rows.has_value());
  REQUIRE(rows->size() == 1);
  CHECK(rows->front().dims.at("m") == 16);
  CHECK(rows->front().median_s == Approx(2.5e-6));
  CHECK(rows->front().flags.empty());
}

TEST_CASE("a quoted cell holds commas, quotes and line ends", "[validate]") {
  const auto rows = read(std::string(kHeader) +
                         "m,i,graph,matmul,bf16,1,1,\"a;b\",\"said \"\"so\"\", twice\nor more\"\r\n"
                         "m,i,graph,matmul,bf16,2,1,,\n");
  REQUIRE(rows.has_value());
  REQUIRE(rows->size() == 2);
  CHECK(rows->front().flags == std::vector<std::string>{"a", "b"});
  CHECK(rows->back().dims.at("m") == 2);
}

TEST_CASE("every bad row of a file is named with its place", "[validate]") {
  const auto rows = read(std::string(kHeader) +
                         "m,i,graph,matmul,bf16,1,1\n"
                         "m,i,graph,matmul,bf16,1,soon,,\n"
                         "m,i,graph,matmul,bf16,1,0,,\n");
  REQUIRE_FALSE(rows.has_value());
  REQUIRE(rows.error().size() == 3);
  CHECK(render(rows.error()).find("rows.csv:2:") != std::string::npos);
  CHECK(render(rows.error()).find("expected 9 cells as in the header, found 7") !=
        std::string::npos);
  CHECK(render(rows.error()).find("expected a time above 0 us, found 'soon'") != std::string::npos);
}

TEST_CASE("a file without a time column is refused by the column's name", "[validate]") {
  const auto rows = read("machine,implementation,mode,op\nh200-sxm,i,graph,matmul\n");
  REQUIRE_FALSE(rows.has_value());
  CHECK(rows.error().front().message == "a measurement file needs a column 'median_us'");
}

TEST_CASE("an empty file says what a measurement file has", "[validate]") {
  CHECK(read("").error().front().id == "empty-file");
}

}  // namespace mansard::validate
