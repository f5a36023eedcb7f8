#include <string>

#include <catch2/catch.hpp>

#include "support/document.hpp"
#include "tests/support/check_document.hpp"
#include "tests/support/parsing.hpp"

namespace mansard {

TEST_CASE("YAML mappings keep the order of the file, lists their items", "[support][yaml]") {
  const Node root = yaml("b: 1\na: [x, {y: 2}]\nc:\n  - p\n  - q: r\n");
  REQUIRE(root.is_mapping());
  REQUIRE(root.entries.size() == 3);
  CHECK(root.entries[0].key == "b");
  CHECK(root.entries[1].key == "a");
  CHECK(root.find("b")->as_integer() == 1);
  CHECK(root.find("a")->items[0].scalar == "x");
  CHECK(root.find("a")->items[1].find("y")->as_integer() == 2);
  CHECK(root.find("c")->items[1].find("q")->scalar == "r");
  CHECK(root.find("absent") == nullptr);
}

TEST_CASE("a YAML value knows the range of its text", "[support][yaml]") {
  const Node root =
      yaml("plain: 4.8 TB/s # why\nflow: [a, {b: 1} ,] # c ]\nblock:\n  k: v\n\nlast: 'it''s'\n");
  CHECK(covered(root.entries[0].key_location) == "plain");
  CHECK(covered(root.find("plain")->location) == "4.8 TB/s");
  CHECK(covered(root.find("flow")->location) == "[a, {b: 1} ,]");
  CHECK(covered(root.find("flow")->items[1].location) == "{b: 1}");
  CHECK(covered(root.find("block")->location) == "k: v");
  CHECK(covered(root.find("last")->location) == "'it''s'");
}

TEST_CASE("YAML scalars fold as the specification says, and end where their text ends",
          "[support][yaml]") {
  const Node root = yaml(
      "literal: |\n  one\n   two\n\nfolded: >-\n  one\n  two\nplain: one\n  two # no\n"
      "double: \"a\\\"b\\n\\u00e9\"\nkey: \"x\"\n");
  CHECK(root.find("literal")->scalar == "one\n two\n");
  CHECK(covered(root.find("literal")->location) == "|\n  one\n   two");
  CHECK(root.find("folded")->scalar == "one two");
  CHECK(covered(root.find("folded")->location) == ">-\n  one\n  two");
  CHECK(root.find("plain")->scalar == "one two");
  CHECK(covered(root.find("plain")->location) == "one\n  two");
  CHECK(root.find("double")->scalar == "a\"b\n\u00E9");
  CHECK(covered(root.find("double")->location) == "\"a\\\"b\\n\\u00e9\"");
}

TEST_CASE("a quoted or block YAML scalar is text, a plain one what it looks like",
          "[support][yaml]") {
  const Node root = yaml("a: '1'\nb: 1\nc: |\n  1\nd: \"null\"\ne: 'true'\n");
  CHECK(root.find("a")->quoted);
  CHECK_FALSE(root.find("b")->quoted);
  CHECK(root.find("c")->quoted);
  CHECK(root.find("d")->is_scalar());
  CHECK(root.find("e")->as_bool() == std::nullopt);
}

TEST_CASE("an absent YAML value is null just after its key", "[support][yaml]") {
  const Node root = yaml("a:\nb: null\nc: ~\nd: {x: , y: }\nlist:\n  -\n  - z\n");
  CHECK(root.find("a")->is_null());
  CHECK(root.find("a")->location.begin == 2);
  CHECK(covered(root.find("a")->location).empty());
  CHECK(covered(root.find("b")->location) == "null");
  CHECK(covered(root.find("c")->location) == "~");
  CHECK(root.find("d")->find("x")->is_null());
  CHECK(root.find("d")->find("y")->is_null());
  CHECK(covered(root.find("d")->location) == "{x: , y: }");
  CHECK(root.find("list")->items[0].is_null());
}

TEST_CASE("a YAML value is absent although what follows begins like null", "[support][yaml]") {
  const Node root = yaml("a:\nnullable: 1\nb:\n~ x: 2\nc: {d: [null, ~, nul]}\n");
  CHECK(root.find("a")->is_null());
  CHECK(covered(root.find("a")->location).empty());
  CHECK(root.find("nullable")->as_integer() == 1);
  CHECK(covered(root.find("b")->location).empty());
  CHECK(root.find("~ x")->as_integer() == 2);
  const Node& list = *root.find("c")->find("d");
  CHECK(covered(list.items[0].location) == "null");
  CHECK(covered(list.items[1].location) == "~");
  CHECK(list.items[2].scalar == "nul");
}

TEST_CASE("a byte order mark, a document start and end, CRLF and a version are fine",
          "[support][yaml]") {
  const Node root = yaml("\xEF\xBB\xBF%YAML 1.2\r\n---\r\na: b\r\nc: d\r\n...\r\n");
  CHECK(covered(root.find("a")->location) == "b");
  CHECK(covered(root.find("c")->location) == "d");
  CHECK(root.find("c")->scalar == "d");
}

TEST_CASE("a repeated YAML key is refused with both places, all of them at once",
          "[support][yaml]") {
  CHECK(yaml_errors("a: 1\nb: {c: 1, c: 2}\na: 2\na: 3\n") ==
        "f:2:11: error: the key 'c' is given twice [duplicate-key]\n"
        "  2 | b: {c: 1, c: 2}\n"
        "    |           ^ remove one of the two\n"
        "f:2:5: note: first given here\n"
        "  2 | b: {c: 1, c: 2}\n"
        "    |     ^\n"
        "f:3:1: error: the key 'a' is given twice [duplicate-key]\n"
        "  3 | a: 2\n"
        "    | ^ remove one of the two\n"
        "f:1:1: note: first given here\n"
        "  1 | a: 1\n"
        "    | ^\n"
        "f:4:1: error: the key 'a' is given twice [duplicate-key]\n"
        "  4 | a: 3\n"
        "    | ^ remove one of the two\n"
        "f:1:1: note: first given here\n"
        "  1 | a: 1\n"
        "    | ^\n");
}

TEST_CASE("YAML anchors, aliases, tags and a second document are refused by name",
          "[support][yaml]") {
  CHECK(yaml_errors("a: &x 1\n") ==
        "f:1:4: error: anchors are refused [yaml-anchor]\n"
        "  1 | a: &x 1\n"
        "    |    ^ write the value out where it is used\n");
  CHECK(yaml_errors("a: 1\nb: *a\n") ==
        "f:2:4: error: aliases are refused [yaml-alias]\n"
        "  2 | b: *a\n"
        "    |    ^^ write the value out\n");
  CHECK(yaml_errors("a: !!int 1\n") ==
        "f:1:4: error: tags are refused [yaml-tag]\n"
        "  1 | a: !!int 1\n"
        "    |    ^ remove the tag\n");
  CHECK(yaml_errors("a: 1\n---\nb: 2\n") ==
        "f:2:1: error: expected one document, found a second [yaml-documents]\n"
        "  2 | ---\n"
        "    | ^^^ split the file\n");
  for (const std::string text :
       {"&a [1]", "! x", "!t {a: 1}", "&a : 1", "- &a\n- 1", "<<: *x", "*x : 1"}) {
    CAPTURE(text);
    CHECK(yaml_errors(text).find("refused") != std::string::npos);
  }
}

TEST_CASE("a factor that YAML takes for an alias is told to wear quotes", "[support][yaml]") {
  CHECK(yaml_errors("bandwidth: *1.4\n") ==
        "f:1:12: error: aliases are refused [yaml-alias]\n"
        "  1 | bandwidth: *1.4\n"
        "    |            ^^^^ to scale, write \"*1.4\" in quotes\n");
}

TEST_CASE("an empty YAML document is an error that says so", "[support][yaml]") {
  for (const std::string text :
       {"", "\n\n", "# only a comment\n", "---\n", "...\n", "\xEF\xBB\xBF"}) {
    CAPTURE(text);
    CHECK(yaml_errors(text).find("expected a value, found an empty document [document-empty]") !=
          std::string::npos);
  }
  CHECK(yaml("null").is_null());
}

TEST_CASE("a YAML key is text", "[support][yaml]") {
  for (const std::string text :
       {"[a]: 1", "{a: b}: 1", "? [a, b]\n: 1", "? - a\n: 1", ": 1", "null: 1", "{: 1}"}) {
    CAPTURE(text);
    CHECK(yaml_errors(text).find("expected a key, which is text on one line [yaml-key]") !=
          std::string::npos);
  }
}

TEST_CASE("each slip of YAML syntax has a message of its own, at its place", "[support][yaml]") {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"a: b: c", "f:1:5: error: a ':' cannot stand here"},
      {"a: 1\n  b: 2\n", "f:2:4: error: a ':' cannot stand here"},
      {"a: [1, 2\nb: 3\n", "f:2:2: error: expected ',' or ']'"},
      {"a: {b: 1\n", "f:2:1: error: expected ',' or '}'"},
      {"[1, 2", "f:1:1: error: this bracket is never closed"},
      {"{a: [1, 2}", "f:1:10: error: this bracket does not close the one that is open"},
      {"a: ]", "f:1:4: error: this bracket does not close the one that is open"},
      {"a: \"x\nb: 1\n", "f:1:4: error: this quote is never closed"},
      {"a: 'x''\nb: 1\n", "f:1:4: error: this quote is never closed"},
      {"b: 1\na: \"x", "f:2:4: error: this quote is never closed"},
      {"a:\n\tb: 1\n", "f:2:1: error: expected spaces as indentation, found a tab"},
      {"a: @x", "f:1:4: error: this character cannot begin a value"},
      {"a: 1\n- b\n", "f:2:1: error: expected a key or the end of this mapping"},
      {"- a\nb: 1\n", "f:2:1: error: expected the end of the file after the value"},
      {R"("a" "b")", "f:1:5: error: expected the end of the file after the value"},
      {R"(a: "\xZZ")", "f:1:9: error: expected hex digits after this escape"},
      {"a: 1\nb", "f:2:1: error: expected ':' after this key"},
      {"{a: 1, b}", "f:1:8: error: expected ':' after this key"},
      {"? a\n", "f:1:3: error: expected ':' after this key"},
      {"a: - b", "f:1:4: error: a list entry cannot stand here"},
  };
  for (const Case& expected : cases) {
    CAPTURE(expected.text);
    const std::string shown = yaml_errors(expected.text);
    CHECK(shown.substr(0, shown.find(" [yaml")) == expected.message);
  }
}

TEST_CASE("an unclosed bracket is named with its line", "[support][yaml]") {
  CHECK(yaml_errors("a: [1, 2\nb: 3\n") ==
        "f:2:2: error: expected ',' or ']' [yaml-syntax]\n"
        "  2 | b: 3\n"
        "    |  ^ the '[' of line 1 is open here\n");
}

TEST_CASE("every prefix of a YAML file is read or refused with a place", "[support][yaml]") {
  const std::string text =
      "\xEF\xBB\xBF%YAML 1.2\n---\na: {b: [1, 'x', \"y\\n\"], c: ~} # note\n? d\n: - |\n   lit\n  "
      "- >-\n   fold\n\ne: \u00E9\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string prefix = text.substr(0, length);
    std::vector<std::uint8_t> bytes(prefix.begin(), prefix.end());
    check_parse(parse_yaml, bytes.data(), bytes.size());
  }
}

}  // namespace mansard
