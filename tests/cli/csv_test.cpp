#include "cli/views/csv.hpp"

#include <vector>

#include <catch2/catch.hpp>

namespace mansard::cli {
namespace {

// RFC 4180, section 2, rules 5 to 7.
TEST_CASE("a CSV field is quoted only where it must be, and quotes in it are doubled") {
  CHECK(csv_field("h200-sxm") == "h200-sxm");
  CHECK(csv_field("") == "");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"hi\"") == "\"say \"\"hi\"\"\"");
  CHECK(csv_field("two\nlines") == "\"two\nlines\"");
  CHECK(csv_field("two\r") == "\"two\r\"");
}

TEST_CASE("a CSV record ends in a line feed and keeps empty fields") {
  CHECK(csv_record(std::vector<std::string>{"", "x", "", "a,b"}) == ",x,,\"a,b\"\n");
  CHECK(csv_record(std::vector<std::string>{}) == "\n");
}

TEST_CASE("CSV numbers read back as they were, whole ones without a fraction") {
  CHECK(csv_number(4.8e12) == "4800000000000");
  CHECK(csv_number(0.1) == "0.1");
  CHECK(csv_number(-3) == "-3");
  CHECK(std::stod(csv_number(1.0 / 3)) == 1.0 / 3);
}

}  // namespace
}  // namespace mansard::cli
