#include "traces/kineto/decimal.hpp"

#include <catch2/catch.hpp>

namespace mansard::traces {

TEST_CASE("microseconds become exact nanoseconds where a double would be off", "[traces]") {
  // 1683564901548726.355 us as a double is ...726.25 or ...726.5.
  CHECK(parse_thousandths("1683564901548726.355") == 1683564901548726355);
  CHECK(parse_thousandths("4458676522690.655") == 4458676522690655);
  CHECK(parse_thousandths("1.76") == 1760);
  CHECK(parse_thousandths("45") == 45000);
  CHECK(parse_thousandths("-3.5") == -3500);
  CHECK(parse_thousandths("0") == 0);
  CHECK(parse_thousandths("9223372036854775.807") == INT64_MAX);
}

TEST_CASE("decimals beyond a nanosecond round, exponents move the point", "[traces]") {
  CHECK(parse_thousandths("1.2344") == 1234);
  CHECK(parse_thousandths("1.2345") == 1235);
  CHECK(parse_thousandths("1.2345678901234567890123456789") == 1235);
  CHECK(parse_thousandths("1.7e3") == 1700000);
  CHECK(parse_thousandths("17E-1") == 1700);
  CHECK(parse_thousandths("5e-4") == 1);
  CHECK(parse_thousandths("4e-4") == 0);
  CHECK(parse_thousandths("0.0000000000000000000000000000001e31") == 1000);
}

TEST_CASE("what is no number, or more than 64 bits hold, is no time", "[traces]") {
  for (const char* text : {"", "-", ".", "1.", "abc", "1.2.3", "inf", "NaN", "1e", "1e99", "0x10",
                           "9223372036854775.808", "99999999999999999999999999", "1 2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_thousandths(text) == std::optional<std::int64_t>(-1));
    if (std::string_view(text) != "1.") {
      CHECK(parse_thousandths(text) == std::nullopt);
    }
  }
}

TEST_CASE("ids come as numbers, strings of digits and hexadecimal", "[traces]") {
  CHECK(parse_whole("2560") == 2560);
  CHECK(parse_whole("0x0") == 0);
  CHECK(parse_whole("0x1F") == 31);
  CHECK(parse_whole("7.0") == 7);
  CHECK(parse_whole("-1") == -1);
  CHECK(parse_whole("Spans") == std::nullopt);
}

}  // namespace mansard::traces
