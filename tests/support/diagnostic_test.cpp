#include "support/diagnostic.hpp"

#include <string>

#include <catch2/catch.hpp>

namespace mansard {
namespace {

std::shared_ptr<const SourceFile> source(std::string text, std::string name = "f.yaml") {
  return std::make_shared<const SourceFile>(SourceFile{std::move(name), std::move(text)});
}

Diagnostic error_at(const std::shared_ptr<const SourceFile>& file, std::size_t begin,
                    std::size_t end, std::string label = {}) {
  return {.id = "some-id",
          .message = "wrong",
          .location = {file, begin, end},
          .label = std::move(label)};
}

/// The two lines below the headline.
std::string excerpt(std::string text, std::size_t begin, std::size_t end) {
  const std::string shown = render(error_at(source(std::move(text)), begin, end));
  return shown.substr(shown.find('\n') + 1);
}

std::size_t position_of(const std::string& text, const std::string& part) {
  const std::size_t position = text.find(part);
  REQUIRE(position != std::string::npos);
  return position;
}

}  // namespace

// The example of STYLE.md.
TEST_CASE("a diagnostic shows place, message, id, line, carets and label",
          "[support][diagnostic]") {
  const std::string text = "a\nb\nc\nd\ne\n    bf16: {peak: 989.4 TFLOP, source: guess}\n";
  const std::size_t begin = text.find("TFLOP");
  const Diagnostic diagnostic{.id = "unit-dimension",
                              .message = "expected a rate, found an amount of work",
                              .location = {source(text, "chips/next.yaml"), begin, begin + 5},
                              .label = "write TFLOP/s"};
  CHECK(render(diagnostic) ==
        "chips/next.yaml:6:24: error: expected a rate, found an amount of work [unit-dimension]\n"
        "  6 |     bf16: {peak: 989.4 TFLOP, source: guess}\n"
        "    |                        ^^^^^ write TFLOP/s\n");
}

TEST_CASE("the bar lines up under line numbers of any width", "[support][diagnostic]") {
  const std::string text = std::string(99, '\n') + "x: y";
  CHECK(render(error_at(source(text), 102, 103)) ==
        "f.yaml:100:4: error: wrong [some-id]\n"
        "  100 | x: y\n"
        "      |    ^\n");
}

TEST_CASE("a diagnostic without a file prints no line", "[support][diagnostic]") {
  CHECK(render(Diagnostic{
            .id = "file-read", .message = "cannot read 'x'", .location = {}, .label = {}}) ==
        "error: cannot read 'x' [file-read]\n");
  CHECK(render(Diagnostic{.id = {},
                          .message = "m",
                          .location = {},
                          .label = "a hint",
                          .severity = Severity::kWarning}) == "warning: m\n  a hint\n");
}

TEST_CASE("an empty range, an empty line and the end of the file have one caret",
          "[support][diagnostic]") {
  CHECK(excerpt("ab", 1, 1) == "  1 | ab\n    |  ^\n");
  CHECK(excerpt("ab", 2, 2) == "  1 | ab\n    |   ^\n");
  CHECK(excerpt("", 0, 0) == "  1 |\n    | ^\n");
  CHECK(excerpt("a\n\nb", 2, 2) == "  2 |\n    | ^\n");
  CHECK(excerpt("a\n", 2, 2) == "  2 |\n    | ^\n");
  CHECK(excerpt("ab", 70, 80) == "  1 | ab\n    |   ^\n");
}

TEST_CASE("a range over several lines is marked to the end of its first", "[support][diagnostic]") {
  CHECK(excerpt("ab cd\nef\n", 3, 8) == "  1 | ab cd\n    |    ^^\n");
}

TEST_CASE("tabs stay, so that carets line up", "[support][diagnostic]") {
  CHECK(excerpt("\ta:\tb", 4, 5) == "  1 | \ta:\tb\n    | \t  \t^\n");
}

TEST_CASE("a character of several bytes has one caret", "[support][diagnostic]") {
  CHECK(excerpt("\u00E9: \u20AC\u20AC x", 4, 10) == "  1 | \u00E9: \u20AC\u20AC x\n    |    ^^\n");
  CHECK(excerpt("\u20AC", 1, 2) == "  1 | \u20AC\n    | ^\n");
}

TEST_CASE("control and malformed bytes are escaped and counted as shown", "[support][diagnostic]") {
  CHECK(excerpt("a\x1B[0m b", 6, 7) == "  1 | a\\x1b[0m b\n    |          ^\n");
  CHECK(excerpt("\xFF\xFEz", 1, 2) == "  1 | \\xff\\xfez\n    |     ^^^^\n");
}

TEST_CASE("what users write into messages cannot break the lines", "[support][diagnostic]") {
  const Diagnostic hostile{.id = "i", .message = "key 'a\nb\x1B'", .location = {}, .label = "\x07"};
  CHECK(render(hostile) == "error: key 'a\\nb\\x1b' [i]\n  \\x07\n");
}

TEST_CASE("no line ends in white space, whatever the source line ends in",
          "[support][diagnostic]") {
  CHECK(excerpt("ab  \t\r\ncd", 0, 1) == "  1 | ab\n    | ^\n");
  CHECK(excerpt("ab      ", 4, 5) == "  1 | ab\n    |     ^\n");
}

TEST_CASE("a long line is shown as a window around the carets", "[support][diagnostic]") {
  const std::string line = std::string(5000, 'a') + "HERE" + std::string(5000, 'b');
  const std::string shown = excerpt(line, 5000, 5004);
  const std::string first = shown.substr(0, shown.find('\n'));
  const std::string second = shown.substr(shown.find('\n') + 1);
  CHECK(first.size() < 140);
  CHECK(first.starts_with("  1 | ...aaa"));
  CHECK(first.ends_with("bbb..."));
  CHECK(position_of(first, "HERE") == position_of(second, "^^^^"));
  CHECK(excerpt(line, 0, 1).starts_with("  1 | aaa"));
  CHECK(excerpt(line, 10003, 10004).find("bbb\n") != std::string::npos);
}

TEST_CASE("a window does not cut a character", "[support][diagnostic]") {
  std::string line;
  for (int i = 0; i < 500; ++i) {
    line += "\u20AC";
  }
  for (std::size_t begin = 300; begin < 320; ++begin) {
    CHECK(excerpt(line, begin, begin + 1).find("\\x") == std::string::npos);
  }
}

TEST_CASE("several diagnostics come in the order of the file, equal places in the order given",
          "[support][diagnostic]") {
  const auto file = source("a\nb\nc\n");
  Diagnostics diagnostics = {error_at(file, 4, 5, "third"), error_at(file, 0, 1, "first"),
                             error_at(file, 0, 1, "second")};
  const std::string shown = render(diagnostics);
  CHECK(position_of(shown, "first") < position_of(shown, "second"));
  CHECK(position_of(shown, "second") < position_of(shown, "third"));
}

TEST_CASE("a note stays behind its error, and files keep the order of their first error",
          "[support][diagnostic]") {
  const auto first = source("a\nb\nc\n", "z.yaml");
  const auto second = source("a\n", "a.yaml");
  Diagnostic note = error_at(first, 0, 1, "note of late");
  note.severity = Severity::kNote;
  const std::string shown =
      render({error_at(first, 4, 5, "late"), note, error_at(second, 0, 1, "other"),
              error_at(first, 2, 3, "early")});
  CHECK(position_of(shown, "early") < position_of(shown, "^ late"));
  CHECK(position_of(shown, "^ late") < position_of(shown, "note of late"));
  CHECK(position_of(shown, "note of late") < position_of(shown, "other"));
}

TEST_CASE("a hundred thousand diagnostics render in one pass", "[support][diagnostic]") {
  const auto file = source(std::string(200000, '\n'));
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < 100000; ++i) {
    diagnostics.push_back(error_at(file, 2 * i, 2 * i));
  }
  CHECK(render(diagnostics).find("f.yaml:199999:1: error") != std::string::npos);
}

}  // namespace mansard
