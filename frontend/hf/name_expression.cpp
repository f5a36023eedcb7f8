#include "frontend/hf/name_expression.hpp"

#include <string>
#include <utility>

namespace mansard::frontend::hf {

namespace {

/// Bounds on what a hostile expression can ask for.
constexpr std::size_t kMostWays = 256;
/// Longer than any module's name.
constexpr std::size_t kLongestName = 255;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kWord =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
/// Characters that may stand behind a backslash for themselves.
constexpr std::string_view kEscaped = ".-_/()[]*+?|\\";
/// Characters that mean something that is not understood where they are met.
constexpr std::string_view kSpecial = "*+?{}^$)";

std::bitset<256> set_of(std::string_view characters) {
  std::bitset<256> set;
  for (const char c : characters) {
    set.set(static_cast<unsigned char>(c));
  }
  return set;
}

/// Reads the expression from left to right.
class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : text_(text) {}

  std::optional<NameTokens> read() {
    NameTokens tokens;
    while (at_ < text_.size()) {
      auto set = read_set();
      if (!set) {
        return std::nullopt;
      }
      tokens.push_back(quantified(*set));
    }
    return tokens;
  }

 private:
  std::optional<std::bitset<256>> read_set() {
    const char c = text_[at_++];
    if (c == '.') {
      return std::bitset<256>().set();
    }
    if (c == '[') {
      return read_class();
    }
    if (c == '\\') {
      return read_escape();
    }
    const bool special = kSpecial.find(c) != std::string_view::npos;
    return special ? std::nullopt : std::optional(set_of({&c, 1}));
  }

  std::optional<std::bitset<256>> read_escape() {
    if (at_ >= text_.size()) {
      return std::nullopt;
    }
    const char c = text_[at_++];
    if (c == 'd' || c == 'w') {
      return set_of(c == 'd' ? kDigits : kWord);
    }
    const bool plain = kEscaped.find(c) != std::string_view::npos;
    return plain ? std::optional(set_of({&c, 1})) : std::nullopt;
  }

  std::optional<std::bitset<256>> read_class() {
    const bool negated = text_.substr(at_).starts_with('^');
    at_ += negated ? 1 : 0;
    std::bitset<256> set;
    while (at_ < text_.size() && text_[at_] != ']') {
      const auto range = read_range();
      if (!range) {
        return std::nullopt;
      }
      set |= *range;
    }
    if (at_ >= text_.size() || set.none()) {
      return std::nullopt;
    }
    ++at_;
    return negated ? ~set : set;
  }

  /// One member of a class: a character, an escape, or a range.
  std::optional<std::bitset<256>> read_range() {
    const char first = text_[at_++];
    if (first == '\\') {
      return read_escape();
    }
    if (at_ + 1 >= text_.size() || text_[at_] != '-' || text_[at_ + 1] == ']') {
      return set_of({&first, 1});
    }
    const auto low = static_cast<unsigned char>(first);
    const auto high = static_cast<unsigned char>(text_[at_ + 1]);
    at_ += 2;
    std::bitset<256> set;
    for (std::size_t c = low; c <= high; ++c) {
      set.set(c);
    }
    return low <= high ? std::optional(set) : std::nullopt;
  }

  NameToken quantified(const std::bitset<256>& set) {
    NameToken token = {.takes = set};
    if (at_ < text_.size()) {
      const char quantifier = text_[at_];
      token.optional = quantifier == '*' || quantifier == '?';
      token.repeats = quantifier == '*' || quantifier == '+';
      at_ += token.optional || token.repeats ? 1 : 0;
    }
    // A lazy quantifier matches the same names.
    if (token.repeats && text_.substr(at_).starts_with('?')) {
      ++at_;
    }
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The position behind an escape, a class or a plain character at `at`.
std::size_t skip(std::string_view text, std::size_t at) {
  if (text[at] == '\\') {
    return at + 2;
  }
  const std::size_t close = text[at] == '[' ? text.find(']', at + 1) : std::string_view::npos;
  return close == std::string_view::npos ? at + 1 : close + 1;
}

/// The position of the parenthesis that closes the one at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); i = skip(text, i)) {
    depth += text[i] == '(' ? 1 : 0;
    depth -= text[i] == ')' ? 1 : 0;
    if (depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// Splits at bars outside of parentheses.
std::vector<std::string> split_at_bars(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); i = skip(text, i)) {
    depth += text[i] == '(' ? 1 : 0;
    depth -= text[i] == ')' ? 1 : 0;
    if (text[i] == '|' && depth == 0) {
      parts.emplace_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::size_t first_group(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && text[at] != '(') {
    at = skip(text, at);
  }
  return at;
}

/// `text` with the group at `open` replaced by each of its alternatives; nothing if the group is
/// not understood.
std::optional<std::vector<std::string>> expand_group(const std::string& text, std::size_t open) {
  const std::size_t close = closing(text, open);
  if (close == std::string::npos) {
    return std::nullopt;
  }
  const std::string before = text.substr(0, open);
  std::string inside = text.substr(open + 1, close - open - 1);
  std::string behind = text.substr(close + 1);
  if (inside.starts_with("?:")) {
    inside.erase(0, 2);
  }
  if (inside.starts_with('?') || behind.starts_with('*') || behind.starts_with('+')) {
    return std::nullopt;
  }
  const bool optional = behind.starts_with('?');
  behind.erase(0, optional ? 1 : 0);
  std::vector<std::string> ways;
  for (const std::string& choice : split_at_bars(inside)) {
    ways.push_back(before + choice + behind);
  }
  if (optional) {
    ways.push_back(before + behind);
  }
  return ways;
}

/// The ways through the outermost bars or the first group of `text`; one: it has neither.
std::optional<std::vector<std::string>> expand(const std::string& text) {
  std::vector<std::string> bars = split_at_bars(text);
  if (bars.size() > 1) {
    return bars;
  }
  const std::size_t open = first_group(text);
  return open >= text.size() ? std::optional(std::vector{text}) : expand_group(text, open);
}

std::optional<std::vector<std::string>> expand_all(std::string_view expression) {
  std::vector<std::string> results;
  std::vector<std::string> pending = {std::string(expression)};
  while (!pending.empty()) {
    const std::string text = std::move(pending.back());
    pending.pop_back();
    auto ways = expand(text);
    if (!ways || pending.size() + results.size() + ways->size() > kMostWays) {
      return std::nullopt;
    }
    auto& target = ways->size() == 1 && ways->front() == text ? results : pending;
    target.insert(target.end(), ways->begin(), ways->end());
  }
  return results;
}

}  // namespace

std::optional<std::vector<NameTokens>> parse_expression(std::string_view expression) {
  const auto ways = expand_all(expression);
  if (!ways) {
    return std::nullopt;
  }
  std::vector<NameTokens> sequences;
  sequences.reserve(ways->size());
  for (const std::string& way : *ways) {
    auto tokens = TokenReader(way).read();
    if (!tokens) {
      return std::nullopt;
    }
    sequences.push_back(std::move(*tokens));
  }
  return sequences;
}

NameTokens parse_glob(std::string_view glob) {
  NameTokens tokens;
  tokens.reserve(glob.size());
  for (const char c : glob) {
    const bool any = c == '*' || c == '?';
    tokens.push_back({.takes = any ? std::bitset<256>().set() : set_of({&c, 1}),
                      .optional = c == '*',
                      .repeats = c == '*'});
  }
  return tokens;
}

std::vector<std::size_t> ends_of_match(const NameTokens& tokens, std::string_view name) {
  if (name.size() > kLongestName) {
    return {};
  }
  // reached[i]: the tokens so far can have taken the first i characters.
  std::bitset<kLongestName + 1> reached;
  reached.set(0);
  for (const NameToken& token : tokens) {
    std::bitset<kLongestName + 1> next;
    next = token.optional ? reached : next;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const bool here = reached[i] || (token.repeats && next[i]);
      if (here && token.takes[static_cast<unsigned char>(name[i])]) {
        next.set(i + 1);
      }
    }
    reached = next;
  }
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (reached[i]) {
      ends.push_back(i);
    }
  }
  return ends;
}

}  // namespace mansard::frontend::hf
