#include "traces/kineto/tokens.hpp"

#include <algorithm>
#include <charconv>

#include "support/text.hpp"

namespace mansard::traces {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_high(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

/// The unit of "\uXXXX" at `at`, if one stands there.
std::optional<char32_t> unicode_unit(std::string_view text, std::size_t at) {
  constexpr std::size_t kLength = 6;
  if (text.substr(at, 2) != "\\u" || at + kLength > text.size()) {
    return std::nullopt;
  }
  std::uint32_t unit = 0;
  const char* end = text.data() + at + kLength;
  const auto parsed = std::from_chars(text.data() + at + 2, end, unit, 16);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(static_cast<char32_t>(unit))
                                                       : std::nullopt;
}

/// Appends what the escape at `at` stands for and returns its length.
std::size_t append_escape(std::string& result, std::string_view text, std::size_t at) {
  constexpr std::size_t kUnit = 6;
  if (const auto unit = unicode_unit(text, at)) {
    const auto low = is_high(*unit) ? unicode_unit(text, at + kUnit) : std::nullopt;
    if (low && is_low(*low)) {
      append_utf8(result, 0x10000 + ((*unit - 0xD800) << 10U) + (*low - 0xDC00));
      return 2 * kUnit;
    }
    append_utf8(result, is_high(*unit) || is_low(*unit) ? kReplacement : *unit);
    return kUnit;
  }
  if (at + 1 == text.size()) {
    result += '\\';
    return 1;
  }
  constexpr std::string_view kLetters = "bfnrt";
  constexpr std::string_view kMeanings = "\b\f\n\r\t";
  const std::size_t letter = kLetters.find(text[at + 1]);
  result += letter == std::string_view::npos ? text[at + 1] : kMeanings[letter];
  return 2;
}

}  // namespace

std::string unescaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\\') {
      at += append_escape(result, text, at);
    } else if (const std::size_t length = utf8_length(text, at)) {
      result.append(text, at, length);
      at += length;
    } else {
      append_utf8(result, kReplacement);
      ++at;
    }
  }
  return result;
}

std::string_view Tokens::string(std::size_t i, std::string& scratch) const {
  const std::string_view raw = scalar(i);
  if (!malformed_ && raw.find('\\') == std::string_view::npos) {
    return raw;
  }
  scratch = unescaped(raw);
  return scratch;
}

std::string Tokens::compact(std::size_t first, std::size_t last) const {
  std::string result;
  for (std::size_t i = first; i < last; ++i) {
    const bool quoted = (*this)[i] == '"';
    result += quoted ? "\"" : "";
    result += scalar(i);
    result += quoted ? "\"" : "";
  }
  return malformed_ ? unescaped(result) : result;
}

}  // namespace mansard::traces
