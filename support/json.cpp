// Our own reader, because none that is packaged gives what the files need: nlohmann-json has no
// positions of values and simdjson none of keys, both refuse the bare Infinity of published
// configs, and neither sees duplicate keys.

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "support/document.hpp"
#include "support/text.hpp"
#include "support/tree_builder.hpp"

namespace mansard {
namespace {

constexpr std::array<std::string_view, 5> kBareWords = {"true", "false", "Infinity", "-Infinity",
                                                        "NaN"};
constexpr std::string_view kEscapeNames = "\"\\/bfnrt";
constexpr std::string_view kEscapeMeanings = "\"\\/\b\f\n\r\t";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::optional<std::uint32_t> hex_digit(char c) {
  if (is_digit(c)) {
    return static_cast<std::uint32_t>(c - '0');
  }
  if (c >= 'a' && c <= 'f') {
    return static_cast<std::uint32_t>(c - 'a' + 10);
  }
  return c >= 'A' && c <= 'F' ? std::optional(static_cast<std::uint32_t>(c - 'A' + 10))
                              : std::nullopt;
}

/// Reads without recursion: the builder holds the stack. Every step gives false after an error,
/// which ends the reading.
class JsonParser {
 public:
  JsonParser(std::shared_ptr<const SourceFile> file, const DocumentLimits& limits)
      : text_(file->text), builder_(std::move(file), limits) {}

  Result<Node> parse() && {
    at_ = byte_order_mark_length(text_);
    if (read_document()) {
      read_end();
    }
    return std::move(builder_).finish();
  }

 private:
  bool read_document() {
    if (!skip_space()) {
      return false;
    }
    if (at_ >= text_.size()) {
      return fail("document-empty", "expected a value, found an empty file", at_, at_);
    }
    bool more = read_value();
    while (more && builder_.depth() > 0) {
      more = builder_.innermost()->is_mapping() ? step_mapping() : step_sequence();
    }
    return more;
  }

  void read_end() {
    if (skip_space() && at_ < text_.size()) {
      fail("json-syntax", "expected the end of the file after the value", at_, word_end(at_));
    }
  }

  bool step_mapping() {
    if (!skip_space() || !read_separator('}')) {
      return false;
    }
    return closed_ || (read_key() && skip_space() && read_colon() && skip_space() && read_value());
  }

  bool step_sequence() {
    if (!skip_space() || !read_separator(']')) {
      return false;
    }
    return closed_ || read_value();
  }

  /// Reads what stands between the entries of a collection: nothing before the first, a comma
  /// before each other, or the bracket that closes it (then `closed_` is true).
  bool read_separator(char closing) {
    const Node& collection = *builder_.innermost();
    const bool first = collection.items.empty() && collection.entries.empty();
    closed_ = peek() == closing;
    if (closed_) {
      builder_.end_collection(++at_);
      return true;
    }
    if (first && at_ < text_.size()) {
      return true;
    }
    if (peek() == ',') {
      return read_comma(closing);
    }
    if (at_ >= text_.size()) {
      return fail("json-syntax", fmt::format("expected '{}', found the end of the file", closing),
                  at_, at_, unclosed_label());
    }
    return fail("json-syntax", fmt::format("expected ',' or '{}'", closing), at_, word_end(at_));
  }

  bool read_comma(char closing) {
    const std::size_t comma = at_++;
    if (!skip_space()) {
      return false;
    }
    if (peek() == closing) {
      return fail("json-trailing-comma", "JSON has no comma after the last entry", comma, comma + 1,
                  "remove it");
    }
    return true;
  }

  bool read_colon() {
    if (peek() != ':') {
      return fail("json-syntax", "expected ':' after the key", at_, word_end(at_));
    }
    ++at_;
    return true;
  }

  bool read_key() {
    const std::size_t begin = at_;
    std::string key;
    if (peek() != '"') {
      return fail("json-syntax", "expected a key in double quotes", begin, word_end(begin));
    }
    if (!read_string(key)) {
      return false;
    }
    builder_.key(std::move(key), begin, at_);
    return true;
  }

  bool read_value() {
    const std::size_t begin = at_;
    const char c = peek();
    if (c == '{' || c == '[') {
      ++at_;
      return builder_.begin_collection(c == '{' ? Node::Kind::kMapping : Node::Kind::kSequence,
                                       begin);
    }
    if (c == '"') {
      std::string value;
      return read_string(value) && builder_.scalar(std::move(value), true, begin, at_);
    }
    if (is_digit(c) || (c == '-' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      return read_number();
    }
    return read_bare_word();
  }

  bool read_bare_word() {
    const std::size_t begin = at_;
    at_ = word_end(begin);
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "null") {
      return builder_.null(begin, at_);
    }
    if (std::ranges::find(kBareWords, word) != kBareWords.end()) {
      return builder_.scalar(std::string(word), false, begin, at_);
    }
    if (word.empty()) {
      return fail("json-syntax", "expected a value, found the end of the file", begin, begin,
                  unclosed_label());
    }
    return fail("json-syntax", fmt::format("expected a value, found '{}'", word), begin, at_,
                hint_for(word));
  }

  static std::string hint_for(std::string_view word) {
    if (word == "'") {
      return "strings take double quotes";
    }
    if (word == "None" || word == "undefined" || word == "nil") {
      return "write null";
    }
    if (word == "True" || word == "False") {
      return word == "True" ? "write true" : "write false";
    }
    if (word.front() == '.' || word.front() == '+' || word.front() == '-') {
      return "a number starts with a digit or a minus and a digit";
    }
    return is_word(word.front()) ? "a string takes double quotes" : "";
  }

  bool read_number() {
    const std::size_t begin = at_;
    at_ += peek() == '-' ? 1 : 0;
    if (peek() == '0' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])) {
      return fail("json-number", "a number has no leading zeros", begin, word_end(begin));
    }
    skip_digits();
    if (peek() == '.') {
      ++at_;
      if (!skip_digits()) {
        return fail("json-number", "expected a digit after the decimal point", at_, at_ + 1);
      }
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      at_ += peek() == '+' || peek() == '-' ? 1 : 0;
      if (!skip_digits()) {
        return fail("json-number", "expected a digit in the exponent", at_, at_ + 1);
      }
    }
    if (is_word(peek()) || peek() == '.') {
      return fail("json-number", "expected the end of the number", at_, word_end(at_));
    }
    return builder_.scalar(std::string(text_.substr(begin, at_ - begin)), false, begin, at_);
  }

  /// True if there was one.
  bool skip_digits() {
    const std::size_t begin = at_;
    while (is_digit(peek())) {
      ++at_;
    }
    return at_ > begin;
  }

  bool read_string(std::string& value) {
    const std::size_t begin = at_++;
    while (at_ < text_.size()) {
      const std::size_t plain = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20) {
        ++at_;
      }
      value.append(text_.substr(plain, at_ - plain));
      if (peek() == '"') {
        ++at_;
        return true;
      }
      if (peek() != '\\') {
        break;
      }
      if (!read_escape(value)) {
        return false;
      }
    }
    return fail("json-string", "this string does not end on its line", begin, at_);
  }

  bool read_escape(std::string& value) {
    const std::size_t begin = at_++;
    const char name = peek();
    if (name == 'u' && at_ < text_.size()) {
      ++at_;
      return read_unicode_escape(value, begin);
    }
    const std::size_t index = at_ < text_.size() ? kEscapeNames.find(name) : std::string_view::npos;
    if (index == std::string_view::npos) {
      return fail("json-string", "unknown escape in a string", begin,
                  std::min(at_ + 1, text_.size()), "a backslash itself is written \\\\");
    }
    value += kEscapeMeanings[index];
    ++at_;
    return true;
  }

  /// After "\u": four hex digits, and for a high surrogate its low half as a second escape.
  bool read_unicode_escape(std::string& value, std::size_t begin) {
    std::optional<std::uint32_t> unit = read_hex4();
    if (!unit) {
      return fail("json-string", "expected four hex digits after \\u", begin, at_);
    }
    char32_t code_point = *unit;
    if (*unit >= 0xD800 && *unit <= 0xDBFF && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      const std::optional<std::uint32_t> low = read_hex4();
      const bool paired = low && *low >= 0xDC00 && *low <= 0xDFFF;
      code_point = paired ? 0x10000 + ((*unit - 0xD800) << 10U) + (*low - 0xDC00) : *unit;
    }
    if (code_point >= 0xD800 && code_point <= 0xDFFF) {
      return fail("json-string", "half of a surrogate pair is not a character", begin, at_);
    }
    append_utf8(value, code_point);
    return true;
  }

  std::optional<std::uint32_t> read_hex4() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const std::optional<std::uint32_t> digit = hex_digit(peek());
      if (!digit) {
        return std::nullopt;
      }
      value = value * 16 + *digit;
      ++at_;
    }
    return value;
  }

  /// Skips white space; a comment there is an error that says so.
  bool skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) {
      ++at_;
    }
    const std::string_view rest = text_.substr(at_, 2);
    if (rest == "//" || rest == "/*" || rest.starts_with('#')) {
      const std::size_t length = rest.starts_with('#') ? 1 : 2;
      return fail("json-comment", "JSON has no comments", at_, at_ + length, "remove it");
    }
    return true;
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  /// The end of what a person would take for one word: letters, digits, signs and points, or else
  /// one character.
  [[nodiscard]] std::size_t word_end(std::size_t begin) const {
    std::size_t end = begin;
    while (end < text_.size() && end - begin < kLongestWord &&
           (is_word(text_[end]) || text_[end] == '-' || text_[end] == '+' || text_[end] == '.')) {
      ++end;
    }
    return end > begin || end == text_.size()
               ? end
               : end + std::max<std::size_t>(1, utf8_length(text_, end));
  }

  [[nodiscard]] std::string unclosed_label() const {
    const Node* open = builder_.innermost();
    if (open == nullptr) {
      return {};
    }
    return fmt::format("the '{}' of line {} is not closed", text_[open->location.begin],
                       line_column(open->location).line);
  }

  bool fail(std::string id, std::string message, std::size_t begin, std::size_t end,
            std::string label = {}) {
    builder_.error(std::move(id), std::move(message), begin, end, std::move(label));
    return false;
  }

  static constexpr std::size_t kLongestWord = 40;

  std::string_view text_;
  TreeBuilder builder_;
  std::size_t at_ = 0;
  bool closed_ = false;
};

}  // namespace

Result<Node> parse_json(std::shared_ptr<const SourceFile> file, const DocumentLimits& limits) {
  if (std::optional<Diagnostic> error = find_unreadable(file, limits)) {
    return failure({*std::move(error)});
  }
  return JsonParser(std::move(file), limits).parse();
}

}  // namespace mansard
