#include "validate/measure/ops_file.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "validate/measure/csv.hpp"

namespace mansard::measure {
namespace {

/// As much of a JSON reader as a list of flat objects needs.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Row> ops() {
    std::optional<std::vector<Row>> rows;
    object([&](const std::string& key) {
      if (key == "ops") {
        rows = list();
      } else {
        skip_value();
      }
    });
    skip_space();
    if (at_ != text_.size()) {
      fail("the end");
    }
    if (!rows) {
      throw UsageError("an ops file has a list \"ops\": {\"ops\": [{\"op\": \"matmul\", ...}]}");
    }
    return *rows;
  }

 private:
  std::vector<Row> list() {
    std::vector<Row> rows;
    elements([&] { rows.push_back(row()); });
    return rows;
  }

  Row row() {
    Row result;
    object([&](const std::string& key) {
      if (const std::optional<std::string> cell = scalar()) {
        result.set(key, *cell);
      }
    });
    return result;
  }

  /// Text and numbers as they stand, true and false as 1 and 0; null and nested values as nothing.
  std::optional<std::string> scalar() {
    skip_space();
    const char c = peek();
    if (c == '"') {
      return string();
    }
    if (c == '{' || c == '[') {
      skip_value();
      return std::nullopt;
    }
    const std::string word = bare();
    if (word == "null") {
      return std::nullopt;
    }
    return word == "true" ? "1" : word == "false" ? "0" : word;
  }

  void skip_value() {
    skip_space();
    if (peek() == '{') {
      nested([&] { object([&](const std::string&) { skip_value(); }); });
    } else if (peek() == '[') {
      nested([&] { elements([&] { skip_value(); }); });
    } else if (peek() == '"') {
      (void)string();
    } else {
      (void)bare();
    }
  }

  template <typename Work>
  void nested(const Work& work) {
    constexpr int kDeepest = 200;
    if (++depth_ > kDeepest) {
      fail("fewer than 200 levels");
    }
    work();
    --depth_;
  }

  template <typename Member>
  void object(const Member& member) {
    expect('{');
    for (bool first = true; !closes('}', first); first = false) {
      skip_space();
      const std::string key = string();
      expect(':');
      member(key);
    }
  }

  template <typename Element>
  void elements(const Element& element) {
    expect('[');
    for (bool first = true; !closes(']', first); first = false) {
      element();
    }
  }

  /// Takes the closing bracket, or the comma before the next element.
  bool closes(char bracket, bool first) {
    skip_space();
    if (peek() == bracket) {
      ++at_;
      return true;
    }
    if (!first) {
      expect(',');
    }
    return false;
  }

  std::string string() {
    expect('"');
    std::string result;
    while (peek() != '"') {
      const char c = text_[at_++];
      result += c == '\\' ? escaped() : c;
    }
    ++at_;
    return result;
  }

  /// Behind a backslash; \u sequences stand for characters that no column needs.
  char escaped() {
    const char c = peek();
    ++at_;
    if (c == 'u') {
      at_ += std::min<std::size_t>(4, text_.size() - at_);
      return '?';
    }
    return c == 'n' || c == 't' || c == 'r' || c == 'b' || c == 'f' ? ' ' : c;
  }

  std::string bare() {
    const std::size_t begin = at_;
    const auto inside = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
    };
    while (at_ < text_.size() && inside(text_[at_])) {
      ++at_;
    }
    if (at_ == begin) {
      fail("a value");
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
  }

  char peek() {
    if (at_ >= text_.size()) {
      fail("more text");
    }
    return text_[at_];
  }

  void expect(char wanted) {
    skip_space();
    if (peek() != wanted) {
      fail(std::string("'") + wanted + "'");
    }
    ++at_;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<long>(at_), '\n');
    throw UsageError("ops file, line " + std::to_string(line) + ": expected " + expected);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::vector<Row> parse_ops_json(std::string_view text) {
  return Reader(text).ops();
}

std::vector<Row> read_ops(const std::filesystem::path& path) {
  if (path.extension() != ".json") {
    return read_csv(path);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw UsageError("cannot read '" + path.string() + "'");
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse_ops_json(text);
}

}  // namespace mansard::measure
