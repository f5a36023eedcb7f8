#include <ctime>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "support/document.hpp"
#include "tests/support/parsing.hpp"

/// Inputs made to exhaust time, memory or stack. Each ends in an error that has a place, soon.
namespace mansard {
namespace {

constexpr std::size_t kMillion = 1'000'000;

/// Of processor time, so that a busy machine does not matter; sanitizers are ten times slower than
/// what is measured else.
constexpr double kSoonSeconds = 10;

std::string repeat(const std::string& part, std::size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    text += part;
  }
  return text;
}

std::string indented(const std::string& line, std::size_t levels) {
  std::string text;
  for (std::size_t i = 0; i < levels; ++i) {
    text += std::string(i, ' ') + line + "\n";
  }
  return text;
}

struct Hostile {
  std::string name;
  std::string text;
  std::string id;
};

using Parse = Result<Node> (*)(std::shared_ptr<const SourceFile>, const DocumentLimits&);

void check_refused(Parse parse, const Hostile& hostile) {
  CAPTURE(hostile.name);
  const std::clock_t start = std::clock();
  const Result<Node> document = parse(source(hostile.text), {});
  REQUIRE_FALSE(document);
  CHECK(document.error().front().id == hostile.id);
  CHECK(document.error().front().location.file != nullptr);
  CHECK(render(document.error()).size() < 50'000);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < kSoonSeconds);
}

}  // namespace

TEST_CASE("nesting a million deep is refused, however YAML can nest", "[support][hostile]") {
  const std::vector<Hostile> cases = {
      {"open lists", repeat("[", kMillion), "yaml-syntax"},
      {"closed lists", repeat("[", kMillion / 4) + repeat("]", kMillion / 4), "document-depth"},
      {"open mappings", repeat("{", kMillion), "yaml-syntax"},
      {"mappings of mappings", repeat("{a: ", kMillion), "yaml-value-size"},
      {"a list an item on one line", repeat("- ", kMillion), "document-depth"},
      {"keys of keys", repeat("? ", kMillion), "yaml-key"},
      {"values without keys", repeat(": ", kMillion), "yaml-key"},
      {"indented mappings", indented("a:", 1500), "document-depth"},
      {"indented lists", indented("-", 1500), "document-depth"},
      {"lists over lines", repeat("[\n", kMillion), "yaml-value-size"},
      {"lists in a mapping", "a: " + repeat("[", 10'000) + repeat("]", 10'000), "document-depth"},
  };
  for (const Hostile& hostile : cases) {
    check_refused(parse_yaml, hostile);
  }
}

TEST_CASE("nesting a million deep is refused in JSON", "[support][hostile]") {
  check_refused(parse_json, {"lists", repeat("[", kMillion), "document-depth"});
  check_refused(parse_json, {"mappings", repeat("{\"a\":", kMillion), "document-depth"});
}

TEST_CASE("a bomb of aliases goes off at its first anchor", "[support][hostile]") {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    const std::string previous = {'*', static_cast<char>(c - 1)};
    bomb += fmt::format("{0}: &{0} [{1}{2}]\n", c, repeat(previous + ", ", 9), previous);
  }
  check_refused(parse_yaml, {"bomb", bomb, "yaml-anchor"});
  check_refused(parse_yaml, {"anchors", repeat("&a ", kMillion), "yaml-value-size"});
  check_refused(parse_yaml, {"tags", repeat("!a ", kMillion), "yaml-value-size"});
}

TEST_CASE("one value of many megabytes is refused by YAML after the first", "[support][hostile]") {
  constexpr std::size_t size = 3 * kMillion;
  const std::vector<Hostile> cases = {
      {"plain", repeat("a", size), "yaml-value-size"},
      {"quoted", "\"" + repeat("a", size) + "\"", "yaml-value-size"},
      {"literal", "a: |\n  " + repeat("x", size), "yaml-value-size"},
      {"literal lines", "a: |\n" + repeat(" x\n", size / 3), "yaml-value-size"},
      {"lines", repeat("a\n", size / 2), "yaml-value-size"},
      {"comment", "#" + repeat("x", size), "yaml-value-size"},
      {"blanks", repeat(" ", size), "yaml-value-size"},
      {"empty lines", repeat("\n", size), "yaml-value-size"},
      {"flow list", "[" + repeat("1,", size / 2) + "1]", "yaml-value-size"},
      {"directive", repeat("%", size), "yaml-value-size"},
      {"commas", "[" + repeat(",", size) + "]", "yaml-value-size"},
  };
  for (const Hostile& hostile : cases) {
    check_refused(parse_yaml, hostile);
  }
}

TEST_CASE("more values than the limit are refused", "[support][hostile]") {
  const DocumentLimits limits{.nodes = 1000};
  CHECK(yaml_errors(repeat("- 1\n", 999), limits).empty());
  CHECK(yaml_errors(repeat("- 1\n", 1000), limits).find("[document-nodes]") != std::string::npos);
  CHECK(json_errors("[" + repeat("1,", 998) + "1]", limits).empty());
  CHECK(json_errors("[" + repeat("1,", 999) + "1]", limits).find("[document-nodes]") !=
        std::string::npos);
}

TEST_CASE("depth up to the limit is read, one more is refused, in both formats alike",
          "[support][hostile]") {
  const DocumentLimits limits{.depth = 7};
  for (const auto& errors : {yaml_errors, json_errors}) {
    CHECK(errors(repeat("[", 7) + repeat("]", 7), limits).empty());
    CHECK(errors(repeat("[", 8) + repeat("]", 8), limits).find("[document-depth]") !=
          std::string::npos);
  }
  CHECK(json_errors(repeat("[", kMillion), {.depth = 10 * kMillion}).find("[document-depth]") !=
        std::string::npos);
}

TEST_CASE("a text above the byte limit is refused unread", "[support][hostile]") {
  const DocumentLimits limits{.bytes = 10};
  CHECK(yaml_errors("0123456789", limits).empty());
  CHECK(yaml_errors("0123456789a", limits).find("[document-size]") != std::string::npos);
  CHECK(json_errors("0123456789a", limits).find("[document-size]") != std::string::npos);
}

TEST_CASE("binary, NUL bytes and other encodings are refused at the first byte that is not text",
          "[support][hostile]") {
  for (const auto& errors : {yaml_errors, json_errors}) {
    CHECK(errors(std::string(kMillion, '\0'), {})
              .find("f:1:1: error: expected text, found the control byte 0x00") == 0);
    CHECK(errors(std::string("a: \0b", 5), {}).find("f:1:4: error") == 0);
    CHECK(errors("\x7F"
                 "ELF\x02\x01\x01",
                 {})
              .find("f:1:5: error: expected text, found the control byte 0x02") == 0);
    CHECK(errors("\xFF\xFE{", {}).find("expected UTF-8 text, found the byte 0xff [text-utf8]") !=
          std::string::npos);
    CHECK(errors("\"caf\xE9\"", {}).find("expected UTF-8 text, found the byte 0xe9 [text-utf8]") !=
          std::string::npos);
  }
}

TEST_CASE("a hundred thousand repeated keys are refused with the first fifty",
          "[support][hostile]") {
  CHECK(parse_yaml(source(repeat("a: 1\n", 100'000))).error().size() == 100);
  CHECK(parse_json(source("{" + repeat("\"a\":1,", 100'000) + "\"a\":1}")).error().size() == 100);
}

}  // namespace mansard
