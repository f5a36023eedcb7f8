#include "frontend/ptx/lexer.hpp"

#include <array>

namespace mansard::frontend::ptx {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool continues_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

bool begins_word(char c) {
  return is_letter(c) || c == '_' || c == '$' || c == '%';
}

struct Pair {
  std::string_view text;
  char code;
};

constexpr std::array kPairs = {Pair{"<<", 'l'}, Pair{">>", 'r'}, Pair{"==", 'e'}, Pair{"!=", 'n'},
                               Pair{"<=", 'k'}, Pair{">=", 'g'}, Pair{"&&", 'a'}, Pair{"||", 'o'}};

}  // namespace

Token Lexer::token(TokenKind kind, std::size_t begin) const {
  return {.kind = kind,
          .text = text_.substr(begin, at_ - begin),
          .position = static_cast<Position>(begin),
          .end = static_cast<Position>(at_)};
}

void Lexer::skip_blank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '#' || (c == '/' && peek(1) == '/')) {
      at_ = text_.find('\n', at_);
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t close = text_.find("*/", at_ + 2);
      if (close == std::string_view::npos) {
        open_comment_ = static_cast<Position>(at_);
      }
      at_ = close == std::string_view::npos ? close : close + 2;
    } else {
      return;
    }
    if (at_ == std::string_view::npos) {
      at_ = text_.size();
    }
  }
}

Token Lexer::word(TokenKind kind, std::size_t begin) {
  while (continues_word(peek()) ||
         (kind == TokenKind::kDot && peek() == ':' && peek(1) == ':' && continues_word(peek(2)))) {
    at_ += peek() == ':' ? 2 : 1;
  }
  Token result = token(kind, begin);
  if (kind == TokenKind::kDot) {
    result.text.remove_prefix(1);
  }
  return result;
}

Token Lexer::number() {
  const std::size_t begin = at_;
  const bool prefixed =
      peek() == '0' && is_letter(peek(1)) && peek(1) != 'e' && peek(1) != 'E' && peek(1) != 'U';
  const bool is_bits =
      prefixed && (peek(1) == 'f' || peek(1) == 'F' || peek(1) == 'd' || peek(1) == 'D');
  while (is_digit(peek()) || (prefixed && continues_word(peek()))) {
    ++at_;
  }
  if (prefixed) {
    return token(is_bits ? TokenKind::kFloat : TokenKind::kInteger, begin);
  }
  bool is_float = false;
  if (peek() == '.' && !is_letter(peek(1))) {
    is_float = true;
    ++at_;
    while (is_digit(peek())) {
      ++at_;
    }
  }
  if (peek() == 'e' || peek() == 'E') {
    is_float = true;
    at_ += peek(1) == '+' || peek(1) == '-' ? 2 : 1;
  }
  while (continues_word(peek())) {
    ++at_;
  }
  return token(is_float ? TokenKind::kFloat : TokenKind::kInteger, begin);
}

Token Lexer::string() {
  const std::size_t begin = at_;
  std::size_t close = begin + 1;
  while (close < text_.size() && text_[close] != '"' && text_[close] != '\n') {
    close += text_[close] == '\\' ? 2 : 1;
  }
  if (close >= text_.size() || text_[close] != '"') {
    at_ = begin + 1;
    return token(TokenKind::kInvalid, begin);
  }
  at_ = close + 1;
  Token result = token(TokenKind::kString, begin);
  result.text = text_.substr(begin + 1, close - begin - 1);
  return result;
}

Token Lexer::punctuation() {
  const std::size_t begin = at_;
  const std::string_view two = text_.substr(begin, 2);
  for (const Pair& pair : kPairs) {
    if (two == pair.text) {
      at_ += 2;
      Token result = token(TokenKind::kPunctuation, begin);
      result.punctuation = pair.code;
      return result;
    }
  }
  constexpr std::string_view kSingles = "{}()[]<>,;:@!+-*/%&|^~?=";
  ++at_;
  const bool valid = kSingles.find(text_[begin]) != std::string_view::npos;
  Token result = token(valid ? TokenKind::kPunctuation : TokenKind::kInvalid, begin);
  result.punctuation = text_[begin];
  return result;
}

Token Lexer::next() {
  skip_blank();
  const std::size_t begin = at_;
  if (begin >= text_.size()) {
    return token(TokenKind::kEnd, begin);
  }
  const char c = peek();
  if (c == '.' && continues_word(peek(1))) {
    ++at_;
    return word(TokenKind::kDot, begin);
  }
  if (begins_word(c) && (c != '%' || continues_word(peek(1)))) {
    ++at_;
    return word(TokenKind::kIdentifier, begin);
  }
  if (is_digit(c)) {
    return number();
  }
  if (c == '"') {
    return string();
  }
  if (text_.substr(begin, 7) == "@@DWARF") {
    at_ = text_.find('\n', at_);
    if (at_ == std::string_view::npos) {
      at_ = text_.size();
    }
    return token(TokenKind::kDwarf, begin);
  }
  return punctuation();
}

bool Lexer::skip_braces() {
  std::size_t depth = 0;
  for (Token each = next(); each.kind != TokenKind::kEnd; each = next()) {
    if (each.is('{')) {
      ++depth;
    } else if (each.is('}') && (depth == 0 || --depth == 0)) {
      return true;
    }
  }
  return false;
}

}  // namespace mansard::frontend::ptx
