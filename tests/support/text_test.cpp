#include "support/text.hpp"

#include <string>

#include <catch2/catch.hpp>

namespace mansard {
namespace {

/// Where a text stops being one and why: "text-utf8 2", or "".
std::string non_text(std::string text) {
  const auto file = std::make_shared<const SourceFile>(SourceFile{"f", std::move(text)});
  const std::optional<Diagnostic> error = find_non_text(file);
  return error ? error->id + " " + std::to_string(error->location.begin) : "";
}

std::string utf8(char32_t code_point) {
  std::string text;
  append_utf8(text, code_point);
  return text;
}

}  // namespace

TEST_CASE("every code point but a surrogate reads back as the sequence that encodes it",
          "[support][text]") {
  for (char32_t c = 0; c < 0x110000; c += c < 0x900 ? 1 : 61) {
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    const std::string text = utf8(c);
    if (utf8_length(text, 0) != (surrogate ? 0 : text.size())) {
      CAPTURE(static_cast<std::uint32_t>(c));
      CHECK(false);
    }
  }
  CHECK(utf8(0x7F) == "\x7F");
  CHECK(utf8(0x80) == "\xC2\x80");
  CHECK(utf8(0x7FF) == "\xDF\xBF");
  CHECK(utf8(0x800) == "\xE0\xA0\x80");
  CHECK(utf8(0xFFFF) == "\xEF\xBF\xBF");
  CHECK(utf8(0x10FFFF) == "\xF4\x8F\xBF\xBF");
}

// From RFC 3629, section 10, and Markus Kuhn's decoder stress test.
TEST_CASE("malformed UTF-8 is not text", "[support][text]") {
  for (const std::string bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3\x28", "\xE0\x80\x80", "\xE0\x9F\xBF",
        "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF"}) {
    CAPTURE(printable(bad));
    CHECK(utf8_length(bad, 0) == 0);
    CHECK(non_text("ab" + bad) == "text-utf8 2");
  }
}

TEST_CASE("control bytes other than tab and line ends are not text", "[support][text]") {
  CHECK(non_text("a\tb\r\nc \u00E9 \u20AC \U0001F600").empty());
  for (int c = 0; c < 0x20; ++c) {
    if (c != '\t' && c != '\n' && c != '\r') {
      CHECK(non_text(std::string("ab") + static_cast<char>(c)) == "text-control 2");
    }
  }
}

TEST_CASE("what could mislead a terminal or a reader is escaped", "[support][text]") {
  CHECK(printable("a\x1B[31m\tb\n\x7F\xFF") == "a\\x1b[31m\\tb\\n\\x7f\\xff");
  CHECK(printable("\u202Eabc\u2066\u0085") == "\\u202eabc\\u2066\\u0085");
  CHECK(printable("\u00E9\u4E2D\U0001F600") == "\u00E9\u4E2D\U0001F600");
}

}  // namespace mansard
