#include <string>

#include <catch2/catch.hpp>

#include "support/document.hpp"
#include "support/units.hpp"
#include "tests/support/parsing.hpp"

namespace mansard {

TEST_CASE("a reader gives each value as what it is asked for", "[support][reader]") {
  const Node root = yaml("s: text\ni: 3\nn: 2.5\nb: true\nl: [1]\nm: {k: v}\n");
  Diagnostics diagnostics;
  Reader reader(root, diagnostics);
  CHECK(reader.required_string("s") == "text");
  CHECK(reader.required_integer("i") == 3);
  CHECK(reader.number("n") == 2.5);
  CHECK(reader.boolean("b") == true);
  CHECK(reader.sequence("l")->items.size() == 1);
  CHECK(reader.mapping("m")->find("k")->scalar == "v");
  reader.finish();
  CHECK(diagnostics.empty());
}

TEST_CASE("an absent key and an explicit null are no value and no error, unless required",
          "[support][reader]") {
  const Node root = yaml("a: null\n");
  Diagnostics diagnostics;
  Reader reader(root, diagnostics);
  for (const std::string key : {"a", "absent"}) {
    CHECK(reader.string(key) == std::nullopt);
    CHECK(reader.integer(key) == std::nullopt);
    CHECK(reader.number(key) == std::nullopt);
    CHECK(reader.boolean(key) == std::nullopt);
    CHECK(reader.sequence(key) == nullptr);
    CHECK(reader.mapping(key) == nullptr);
  }
  CHECK(reader.find("a")->is_null());
  CHECK_FALSE(reader.has("absent"));
  CHECK(diagnostics.empty());
  CHECK(reader.required_integer("a") == 0);
  CHECK(reader.required_string("absent").empty());
  CHECK(render(diagnostics) ==
        "f:1:1: error: the key 'absent' is missing [missing-key]\n"
        "  1 | a: null\n"
        "    | ^\n"
        "f:1:4: error: expected an integer, found null [wrong-type]\n"
        "  1 | a: null\n"
        "    |    ^\n");
}

TEST_CASE("a value of the wrong type is an error at the value, all of them at once",
          "[support][reader]") {
  const Node root = yaml("i: 2.5\nn: fast\nb: 1\nl: {a: 1}\nm: '3'\ns: [1,\n 2]\nq: '3'\n");
  Diagnostics diagnostics;
  Reader reader(root, diagnostics);
  CHECK(reader.integer("i") == std::nullopt);
  CHECK(reader.number("n") == std::nullopt);
  CHECK(reader.boolean("b") == std::nullopt);
  CHECK(reader.sequence("l") == nullptr);
  CHECK(reader.mapping("m") == nullptr);
  CHECK(reader.string("s") == std::nullopt);
  CHECK(reader.integer("q") == std::nullopt);
  reader.finish();
  CHECK(render(diagnostics) ==
        "f:1:4: error: expected an integer, found a number [wrong-type]\n"
        "  1 | i: 2.5\n"
        "    |    ^^^\n"
        "f:2:4: error: expected a number, found text [wrong-type]\n"
        "  2 | n: fast\n"
        "    |    ^^^^\n"
        "f:3:4: error: expected true or false, found a number [wrong-type]\n"
        "  3 | b: 1\n"
        "    |    ^\n"
        "f:4:4: error: expected a list, found a mapping [wrong-type]\n"
        "  4 | l: {a: 1}\n"
        "    |    ^\n"
        "f:5:4: error: expected a mapping, found text [wrong-type]\n"
        "  5 | m: '3'\n"
        "    |    ^^^\n"
        "f:6:4: error: expected text, found a list [wrong-type]\n"
        "  6 | s: [1,\n"
        "    |    ^\n"
        "f:8:4: error: expected an integer, found text [wrong-type]\n"
        "  8 | q: '3'\n"
        "    |    ^^^\n");
}

TEST_CASE("text may look like a number: a name is what it is written as", "[support][reader]") {
  const Node root = yaml("a: 4090\nb: 1.0\n");
  Diagnostics diagnostics;
  Reader reader(root, diagnostics);
  CHECK(reader.string("a") == "4090");
  CHECK(reader.required_string("b") == "1.0");
  CHECK(diagnostics.empty());
}

TEST_CASE("a key that nobody asked for is an error with a suggestion from those that were",
          "[support][reader]") {
  const Node root = yaml("capacity: 1\nbandwith: 2\ncolour: red\nnote: x\n");
  Diagnostics diagnostics;
  Reader reader(root, diagnostics);
  static_cast<void>(reader.integer("capacity"));
  static_cast<void>(reader.integer("bandwidth"));
  reader.ignore("note");
  REQUIRE(reader.unread().size() == 2);
  CHECK(reader.unread()[0]->key == "bandwith");
  reader.finish();
  CHECK(render(diagnostics) ==
        "f:2:1: error: unknown key 'bandwith' [unknown-key]\n"
        "  2 | bandwith: 2\n"
        "    | ^^^^^^^^ did you mean 'bandwidth'?\n"
        "f:3:1: error: unknown key 'colour' [unknown-key]\n"
        "  3 | colour: red\n"
        "    | ^^^^^^ known here: capacity, bandwidth, note\n");
}

// Also support/README.md.
TEST_CASE("units and keys of a machine file are reported together, in the order of the file",
          "[support][reader]") {
  const auto file =
      source("name: next\nmatrix:\n  bf16: {peak: 989.4 TFLOP, sorce: guess}\n", "chips/next.yaml");
  Diagnostics diagnostics;
  const Result<Node> document = parse_yaml(file);
  REQUIRE(document);
  Reader matrix(*document->find("matrix")->find("bf16"), diagnostics);
  const Node* peak = matrix.require("peak");
  REQUIRE(peak != nullptr);
  if (const Result<double> rate = parse_measure(peak->scalar, kFlopPerSecond, peak->location);
      !rate) {
    diagnostics.insert(diagnostics.end(), rate.error().begin(), rate.error().end());
  }
  static_cast<void>(matrix.string("source"));
  matrix.finish();
  CHECK(render(diagnostics) ==
        "chips/next.yaml:3:22: error: expected a rate, found an amount of work [unit-dimension]\n"
        "  3 |   bf16: {peak: 989.4 TFLOP, sorce: guess}\n"
        "    |                      ^^^^^ write TFLOP/s\n"
        "chips/next.yaml:3:29: error: unknown key 'sorce' [unknown-key]\n"
        "  3 |   bf16: {peak: 989.4 TFLOP, sorce: guess}\n"
        "    |                             ^^^^^ did you mean 'source'?\n");
}

TEST_CASE("a reader of something that is no mapping says so once", "[support][reader]") {
  const Node root = yaml("[1, 2]");
  Diagnostics diagnostics;
  Reader reader(root, diagnostics);
  static_cast<void>(reader.required_string("name"));
  static_cast<void>(reader.require("name"));
  reader.finish();
  CHECK(render(diagnostics) ==
        "f:1:1: error: expected a mapping, found a list [wrong-type]\n"
        "  1 | [1, 2]\n"
        "    | ^\n");
}

TEST_CASE("a file of another kind altogether does not drown the reader in unknown keys",
          "[support][reader]") {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "key" + std::to_string(i) + ": 1\n";
  }
  const Node root = yaml(text);
  Diagnostics diagnostics;
  Reader reader(root, diagnostics);
  reader.finish();
  REQUIRE(diagnostics.size() == 21);
  CHECK(diagnostics.back().message == "980 more unknown keys");
}

}  // namespace mansard
