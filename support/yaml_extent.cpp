#include "support/yaml_extent.hpp"

#include <algorithm>

namespace mansard {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::size_t line_end(std::string_view text, std::size_t from) {
  return std::min(text.find('\n', from), text.size());
}

constexpr std::size_t kNowhere = std::string_view::npos;

/// One past the closing quote.
std::size_t single_quoted_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text[at] != '\'') {
      ++at;
    } else if (at + 1 < text.size() && text[at + 1] == '\'') {
      at += 2;
    } else {
      return at + 1;
    }
  }
  return kNowhere;
}

std::size_t double_quoted_end(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '"') {
    at += text[at] == '\\' ? 2 : 1;
  }
  return at < text.size() ? at + 1 : kNowhere;
}

/// Folding changes white space and nothing else, so the other characters of the value are found in
/// order.
std::size_t folded_end(std::string_view text, std::size_t at, std::string_view value) {
  std::size_t end = at;
  for (const char c : value) {
    if (is_space(c)) {
      continue;
    }
    while (at < text.size() && is_space(text[at])) {
      ++at;
    }
    if (at == text.size() || text[at] != c) {
      break;
    }
    end = ++at;
  }
  return end;
}

std::size_t quoted_end(std::string_view text, std::size_t begin) {
  return text[begin] == '"' ? double_quoted_end(text, begin + 1)
                            : single_quoted_end(text, begin + 1);
}

}  // namespace

std::size_t scalar_end(std::string_view text, std::size_t begin, std::string_view value) {
  if (begin >= text.size()) {
    return text.size();
  }
  switch (text[begin]) {
    case '\'':
    case '"':
      return quoted_end(text, begin);
    case '|':
    case '>':
      return std::max(begin + 1, folded_end(text, line_end(text, begin), value));
    default:
      return folded_end(text, begin, value);
  }
}

std::size_t flow_end(std::string_view text, std::size_t from, char bracket) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (text[at] == bracket) {
      return at + 1;
    }
    if (text[at] == '#') {
      at = line_end(text, at) - 1;
    }
  }
  return text.size();
}

/// Elsewhere a quote is part of a word.
constexpr std::string_view kBeforeQuote = "[{,: \t\n";

bool is_closed(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    const char before = at > begin ? text[at - 1] : '\n';
    if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return true;
    } else if ((c == '"' || c == '\'') && kBeforeQuote.find(before) != std::string_view::npos) {
      at = std::min(quoted_end(text, at), text.size()) - 1;
    } else if (c == '#' && is_space(before)) {
      at = line_end(text, at) - 1;
    }
  }
  return false;
}

std::size_t colon_end(std::string_view text, std::size_t from) {
  const std::size_t colon = text.find_first_not_of(" \t\r\n", from);
  return colon != kNowhere && text[colon] == ':' ? colon + 1 : kNowhere;
}

}  // namespace mansard
