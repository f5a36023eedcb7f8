#include "frontend/hf/module_pattern.hpp"

#include <algorithm>

namespace mansard::frontend::hf {

namespace {

/// Bounds on what a hostile expression can ask for.
constexpr std::size_t kMostAlternatives = 256;
constexpr std::size_t kMostCharacters = 400;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kWord =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/// The position of the parenthesis that closes the one at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// Splits at bars outside of parentheses.
std::vector<std::string_view> split_at_bars(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    } else if (text[i] == '|' && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::optional<std::string> expand_class(std::string_view inside) {
  std::string set;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '\\' && i + 1 < inside.size()) {
      ++i;
      const char escaped = inside[i];
      set += escaped == 'd' ? kDigits : escaped == 'w' ? kWord : inside.substr(i, 1);
    } else if (i + 2 < inside.size() && inside[i + 1] == '-') {
      if (inside[i] > inside[i + 2]) {
        return std::nullopt;
      }
      for (int c = inside[i]; c <= inside[i + 2]; ++c) {
        set += static_cast<char>(c);
      }
      i += 2;
    } else {
      set += inside[i];
    }
  }
  return set.empty() ? std::nullopt : std::optional(set);
}

}  // namespace

/// Every way through the groups of an expression, as expressions without groups.
std::optional<std::vector<std::string>> ModulePattern::alternatives(std::string_view expression) {
  std::vector<std::string> results;
  std::vector<std::string> pending = {std::string(expression)};
  while (!pending.empty()) {
    if (pending.size() + results.size() > kMostAlternatives) {
      return std::nullopt;
    }
    const std::string text = std::move(pending.back());
    pending.pop_back();
    const std::vector<std::string_view> bars = split_at_bars(text);
    if (bars.size() > 1) {
      pending.insert(pending.end(), bars.begin(), bars.end());
      continue;
    }
    std::size_t open = 0;
    while (open < text.size() && text[open] != '(') {
      open += text[open] == '\\' ? 2 : 1;
    }
    if (open >= text.size()) {
      results.push_back(text);
      continue;
    }
    const std::size_t close = closing(text, open);
    if (close == std::string::npos) {
      return std::nullopt;
    }
    std::string_view inside = std::string_view(text).substr(open + 1, close - open - 1);
    if (inside.starts_with("?:")) {
      inside.remove_prefix(2);
    } else if (inside.starts_with('?')) {
      return std::nullopt;
    }
    std::string rest = text.substr(close + 1);
    const bool optional = rest.starts_with('?');
    if (rest.starts_with('*') || rest.starts_with('+')) {
      return std::nullopt;
    }
    rest = optional ? rest.substr(1) : rest;
    for (const std::string_view choice : split_at_bars(inside)) {
      pending.push_back(text.substr(0, open) + std::string(choice) + rest);
    }
    if (optional) {
      pending.push_back(text.substr(0, open) + rest);
    }
  }
  return results;
}

std::optional<ModulePattern::Token> ModulePattern::parse_token(std::string_view expression,
                                                               std::size_t& at) {
  const char c = expression[at++];
  if (c == '.') {
    return Token{};
  }
  if (c == '[') {
    const std::size_t close = expression.find(']', at + 1);
    if (close == std::string_view::npos) {
      return std::nullopt;
    }
    std::string_view inside = expression.substr(at, close - at);
    at = close + 1;
    const bool negated = inside.starts_with('^');
    const auto set = expand_class(negated ? inside.substr(1) : inside);
    return set ? std::optional(Token{.set = *set, .negated = negated}) : std::nullopt;
  }
  if (c == '\\') {
    if (at >= expression.size()) {
      return std::nullopt;
    }
    const char escaped = expression[at++];
    if (escaped == 'd' || escaped == 'w') {
      return Token{.set = std::string(escaped == 'd' ? kDigits : kWord)};
    }
    const bool plain = std::string_view(".-_/()[]*+?|\\").find(escaped) != std::string_view::npos;
    return plain ? std::optional(Token{.set = std::string(1, escaped)}) : std::nullopt;
  }
  const bool special = std::string_view("*+?{}^$)").find(c) != std::string_view::npos;
  return special ? std::nullopt : std::optional(Token{.set = std::string(1, c)});
}

std::optional<ModulePattern::Sequence> ModulePattern::parse_sequence(
    std::string_view expression) {
  Sequence sequence;
  for (std::size_t at = 0; at < expression.size();) {
    std::optional<Token> token = parse_token(expression, at);
    if (!token) {
      return std::nullopt;
    }
    if (at < expression.size()) {
      const char quantifier = expression[at];
      token->optional = quantifier == '*' || quantifier == '?';
      token->repeats = quantifier == '*' || quantifier == '+';
      at += token->optional || token->repeats ? 1 : 0;
      // A lazy quantifier matches the same names.
      const bool lazy = token->repeats && at < expression.size() && expression[at] == '?';
      at += lazy ? 1 : 0;
    }
    sequence.push_back(std::move(*token));
  }
  return sequence;
}

ModulePattern::Sequence ModulePattern::parse_glob(std::string_view glob) {
  Sequence sequence;
  for (const char c : glob) {
    if (c == '*') {
      sequence.push_back({.optional = true, .repeats = true});
    } else if (c == '?') {
      sequence.push_back({});
    } else {
      sequence.push_back({.set = std::string(1, c)});
    }
  }
  return sequence;
}

std::optional<ModulePattern> ModulePattern::parse(std::string_view text) {
  if (text.size() > kMostCharacters) {
    return std::nullopt;
  }
  ModulePattern pattern;
  if (!text.starts_with("re:")) {
    pattern.whole_parts_ = true;
    pattern.prefix_ = text.substr(0, text.find_first_of("*?"));
    pattern.sequences_.push_back(parse_glob(text));
    return pattern;
  }
  text.remove_prefix(3);
  if (text.starts_with('^')) {
    text.remove_prefix(1);
  }
  pattern.to_the_end_ = text.ends_with('$') && !text.ends_with("\\$");
  if (pattern.to_the_end_) {
    text.remove_suffix(1);
  }
  const auto choices = alternatives(text);
  if (!choices) {
    return std::nullopt;
  }
  for (const std::string& choice : *choices) {
    auto sequence = parse_sequence(choice);
    if (!sequence) {
      return std::nullopt;
    }
    pattern.sequences_.push_back(std::move(*sequence));
  }
  return pattern;
}

bool ModulePattern::matches(const Sequence& sequence, std::string_view name) const {
  // reached[i]: the tokens so far can have consumed i characters.
  std::vector<bool> reached(name.size() + 1, false);
  reached[0] = true;
  for (const Token& token : sequence) {
    std::vector<bool> next(name.size() + 1, false);
    for (std::size_t i = 0; i <= name.size(); ++i) {
      next[i] = next[i] || (token.optional && reached[i]);
      if (i == name.size()) {
        continue;
      }
      const bool fits = token.set.empty() ||
                        (token.set.find(name[i]) != std::string::npos) != token.negated;
      if (fits && (reached[i] || (token.repeats && next[i]))) {
        next[i + 1] = true;
      }
    }
    reached = std::move(next);
  }
  if (to_the_end_) {
    return reached.back();
  }
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const bool ends_part = i == name.size() || name[i] == '.';
    if (reached[i] && (ends_part || !whole_parts_)) {
      return true;
    }
  }
  return false;
}

bool ModulePattern::matches(std::string_view name) const {
  return name.starts_with(prefix_) &&
         std::ranges::any_of(sequences_, [&](const Sequence& sequence) {
           return matches(sequence, name);
         });
}

bool ModuleSet::add(std::string_view pattern) {
  if (!pattern.starts_with("re:") && pattern.find_first_of("*?") == std::string_view::npos) {
    names_.emplace(pattern);
    return true;
  }
  auto parsed = ModulePattern::parse(pattern);
  if (!parsed) {
    return false;
  }
  patterns_.push_back(std::move(*parsed));
  return true;
}

bool ModuleSet::matches(std::string_view name) const {
  for (std::size_t begin = 0; begin != std::string_view::npos && !names_.empty();) {
    for (std::size_t end = name.find('.', begin);; end = name.find('.', end + 1)) {
      if (names_.contains(std::string(name.substr(begin, end - begin)))) {
        return true;
      }
      if (end == std::string_view::npos) {
        break;
      }
    }
    const std::size_t dot = name.find('.', begin);
    begin = dot == std::string_view::npos ? dot : dot + 1;
  }
  return std::ranges::any_of(
      patterns_, [&](const ModulePattern& pattern) { return pattern.matches(name); });
}

}  // namespace mansard::frontend::hf
