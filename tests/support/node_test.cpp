#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include "support/document.hpp"

namespace mansard {
namespace {

Node bare(std::string text) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.scalar = std::move(text);
  return node;
}

Node quoted(std::string text) {
  Node node = bare(std::move(text));
  node.quoted = true;
  return node;
}

}  // namespace

TEST_CASE("an integer is digits and a sign, without a fraction, within 64 bits",
          "[support][document]") {
  CHECK(bare("0").as_integer() == 0);
  CHECK(bare("-12").as_integer() == -12);
  CHECK(bare("+12").as_integer() == 12);
  CHECK(bare("9223372036854775807").as_integer() == std::numeric_limits<std::int64_t>::max());
  CHECK(bare("-9223372036854775808").as_integer() == std::numeric_limits<std::int64_t>::min());
  for (const std::string text : {"", "-", "+", "+-1", "1.0", "1e3", "0x10", " 1", "1 ",
                                 "9223372036854775808", "twelve", "1_000"}) {
    CAPTURE(text);
    CHECK(bare(text).as_integer() == std::nullopt);
  }
}

TEST_CASE("a number is any finite decimal, or one of JSON's and YAML's words for the others",
          "[support][document]") {
  CHECK(bare("1").as_number() == 1.0);
  CHECK(bare("-1.5e-3").as_number() == -1.5e-3);
  CHECK(bare("+.5").as_number() == 0.5);
  CHECK(bare("1e+3").as_number() == 1000.0);
  CHECK(bare("18446744073709551616").as_number() == 18446744073709551616.0);
  CHECK(bare("Infinity").as_number() == std::numeric_limits<double>::infinity());
  CHECK(bare("-Infinity").as_number() == -std::numeric_limits<double>::infinity());
  CHECK(bare("-.inf").as_number() == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(bare("NaN").as_number().value()));
  CHECK(std::isnan(bare(".nan").as_number().value()));
  for (const std::string text :
       {"", "inf", "nan", "infinity", "-nan", "1e999", "1.5x", "--1", "1 2", "e5", "."}) {
    CAPTURE(text);
    CHECK(bare(text).as_number() == std::nullopt);
  }
}

TEST_CASE("a truth value is true or false and nothing else", "[support][document]") {
  CHECK(bare("true").as_bool() == true);
  CHECK(bare("False").as_bool() == false);
  for (const std::string text : {"yes", "on", "1", "0", "tRUE", ""}) {
    CHECK(bare(text).as_bool() == std::nullopt);
  }
}

TEST_CASE("a quoted scalar is text whatever it looks like", "[support][document]") {
  CHECK(quoted("1").as_integer() == std::nullopt);
  CHECK(quoted("1").as_number() == std::nullopt);
  CHECK(quoted("true").as_bool() == std::nullopt);
}

}  // namespace mansard
