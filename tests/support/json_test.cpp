#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "support/document.hpp"
#include "tests/support/check_document.hpp"
#include "tests/support/parsing.hpp"

namespace mansard {

TEST_CASE("JSON reads into the same tree as YAML", "[support][json]") {
  const Node root = json(R"({"b": 1, "a": ["x", {"y": -2.5e3}], "t": true, "n": null})");
  REQUIRE(root.is_mapping());
  CHECK(root.entries[0].key == "b");
  CHECK(root.find("b")->as_integer() == 1);
  CHECK(root.find("a")->items[0].quoted);
  CHECK(root.find("a")->items[1].find("y")->as_number() == -2500.0);
  CHECK(root.find("t")->as_bool() == true);
  CHECK(root.find("n")->is_null());
}

TEST_CASE("any JSON value may be the whole document", "[support][json]") {
  CHECK(json(" 1 ").as_integer() == 1);
  CHECK(json("\"a\"").scalar == "a");
  CHECK(json("null").is_null());
  CHECK(json("[]").items.empty());
  CHECK(json("{}").entries.empty());
  CHECK(json("[[],{}]").items.size() == 2);
}

TEST_CASE("a JSON value knows the range of its text", "[support][json]") {
  const Node root = json("{\"a\" : [1, \"x\\n\"] ,\n \"b\": {\"c\": null}}");
  CHECK(covered(root.location).size() == root.location.file->text.size());
  CHECK(covered(root.entries[0].key_location) == "\"a\"");
  CHECK(covered(root.find("a")->location) == "[1, \"x\\n\"]");
  CHECK(covered(root.find("a")->items[1].location) == "\"x\\n\"");
  CHECK(covered(root.find("b")->find("c")->location) == "null");
}

// RFC 8259, section 7; the clef is its own example.
TEST_CASE("JSON escapes are resolved, surrogate pairs too", "[support][json]") {
  CHECK(json(R"("\"\\\/\b\f\n\r\t")").scalar == "\"\\/\b\f\n\r\t");
  CHECK(json(R"("\u00e9\u20AC")").scalar == "\u00E9\u20AC");
  CHECK(json(R"("\uD834\uDD1E")").scalar == "\U0001D11E");
  CHECK(json(R"("\u0000")").scalar == std::string(1, '\0'));
  CHECK(json("\"\u00E9\x7F\"").scalar == "\u00E9\x7F");
}

TEST_CASE("an integer beyond 64 bits keeps its text", "[support][json]") {
  const Node node = json("123456789012345678901234567890");
  CHECK(node.scalar == "123456789012345678901234567890");
  CHECK(node.as_integer() == std::nullopt);
  CHECK(node.as_number() == 123456789012345678901234567890.0);
}

TEST_CASE("a byte order mark and bare Infinity, -Infinity, NaN are tolerated", "[support][json]") {
  const Node root = json("\xEF\xBB\xBF[Infinity, -Infinity, NaN]");
  CHECK(std::isinf(root.items[0].as_number().value()));
  CHECK(root.items[1].as_number().value() < 0);
  CHECK(std::isnan(root.items[2].as_number().value()));
}

TEST_CASE("JSON comments and trailing commas are errors that say so", "[support][json]") {
  CHECK(json_errors("{\"a\": 1, // one\n}") ==
        "f:1:10: error: JSON has no comments [json-comment]\n"
        "  1 | {\"a\": 1, // one\n"
        "    |          ^^ remove it\n");
  CHECK(json_errors("{\"a\": [1, 2,],}") ==
        "f:1:12: error: JSON has no comma after the last entry [json-trailing-comma]\n"
        "  1 | {\"a\": [1, 2,],}\n"
        "    |            ^ remove it\n");
  for (const std::string text :
       {"/* x */ {}", "{} # x", "[1 /* x */]", "// x", "{\"a\" # x\n: 1}"}) {
    CAPTURE(text);
    CHECK(json_errors(text).find("[json-comment]") != std::string::npos);
  }
}

TEST_CASE("a repeated JSON key is refused with both places", "[support][json]") {
  CHECK(json_errors("{\"a\": 1,\n \"\\u0061\": 2}") ==
        "f:2:2: error: the key 'a' is given twice [duplicate-key]\n"
        "  2 |  \"\\u0061\": 2}\n"
        "    |  ^^^^^^^^ remove one of the two\n"
        "f:1:2: note: first given here\n"
        "  1 | {\"a\": 1,\n"
        "    |  ^^^\n");
}

TEST_CASE("each slip of JSON syntax has a message of its own, at its place", "[support][json]") {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"", "f:1:1: error: expected a value, found an empty file"},
      {" \n", "f:2:1: error: expected a value, found an empty file"},
      {"{", "f:1:2: error: expected '}', found the end of the file"},
      {"[1", "f:1:3: error: expected ']', found the end of the file"},
      {"[1,", "f:1:4: error: expected a value, found the end of the file"},
      {"[1 2]", "f:1:4: error: expected ',' or ']'"},
      {"[1}", "f:1:3: error: expected ',' or ']'"},
      {"[,1]", "f:1:2: error: expected a value, found ','"},
      {"{\"a\" 1}", "f:1:6: error: expected ':' after the key"},
      {"{\"a\": }", "f:1:7: error: expected a value, found '}'"},
      {"{a: 1}", "f:1:2: error: expected a key in double quotes"},
      {"{1: 1}", "f:1:2: error: expected a key in double quotes"},
      {"'a'", "f:1:1: error: expected a value, found '''"},
      {"None", "f:1:1: error: expected a value, found 'None'"},
      {"TRUE", "f:1:1: error: expected a value, found 'TRUE'"},
      {"+1", "f:1:1: error: expected a value, found '+1'"},
      {".5", "f:1:1: error: expected a value, found '.5'"},
      {"-", "f:1:1: error: expected a value, found '-'"},
      {"nan", "f:1:1: error: expected a value, found 'nan'"},
      {"01", "f:1:1: error: a number has no leading zeros"},
      {"-01", "f:1:1: error: a number has no leading zeros"},
      {"1.", "f:1:3: error: expected a digit after the decimal point"},
      {"1.e3", "f:1:3: error: expected a digit after the decimal point"},
      {"1e", "f:1:3: error: expected a digit in the exponent"},
      {"1e+", "f:1:4: error: expected a digit in the exponent"},
      {"0x10", "f:1:2: error: expected the end of the number"},
      {"1.5.2", "f:1:4: error: expected the end of the number"},
      {"\"a", "f:1:1: error: this string does not end on its line"},
      {"\"a\nb\"", "f:1:1: error: this string does not end on its line"},
      {"\"a\tb\"", "f:1:1: error: this string does not end on its line"},
      {"\"\\x41\"", "f:1:2: error: unknown escape in a string"},
      {"\"\\u12\"", "f:1:2: error: expected four hex digits after \\u"},
      {"\"\\ud800\"", "f:1:2: error: half of a surrogate pair is not a character"},
      {"\"\\udc00\\ud800\"", "f:1:2: error: half of a surrogate pair is not a character"},
      {"\"\\ud800\\u0041\"", "f:1:2: error: half of a surrogate pair is not a character"},
      {"{} {}", "f:1:4: error: expected the end of the file after the value"},
      {"1 2", "f:1:3: error: expected the end of the file after the value"},
  };
  for (const Case& expected : cases) {
    CAPTURE(expected.text);
    const std::string shown = json_errors(expected.text);
    CHECK(shown.substr(0, shown.find(" [")) == expected.message);
  }
}

TEST_CASE("an unclosed JSON bracket is named with its line", "[support][json]") {
  CHECK(json_errors("{\n \"a\": [1,\n 2\n") ==
        "f:4:1: error: expected ']', found the end of the file [json-syntax]\n"
        "  4 |\n"
        "    | ^ the '[' of line 2 is not closed\n");
}

TEST_CASE("every prefix of a JSON file is read or refused with a place", "[support][json]") {
  const std::string text =
      "\xEF\xBB\xBF {\"a\": [1, -2.5e+3, \"\\uD834\\uDD1E\\n\u00E9\", true, null, NaN], \"b\": "
      "{\"c\": {}}} ";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string prefix = text.substr(0, length);
    std::vector<std::uint8_t> bytes(prefix.begin(), prefix.end());
    check_parse(parse_json, bytes.data(), bytes.size());
  }
}

TEST_CASE("every published config of the collection is read", "[support][json]") {
  const char* shared = std::getenv("MANSARD_SHARED");
  if (shared == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return;
  }
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(shared) / "data/hf-configs")) {
    if (entry.path().extension() == ".json") {
      CAPTURE(entry.path());
      CHECK(read_document(entry.path().string()));
      ++count;
    }
  }
  CHECK(count >= 44);
}

}  // namespace mansard
