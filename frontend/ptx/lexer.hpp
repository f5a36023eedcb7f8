#pragma once

#include <cstdint>
#include <string_view>

#include "frontend/ptx/ast.hpp"

namespace mansard::frontend::ptx {

enum class TokenKind : std::uint8_t {
  kEnd,
  kIdentifier,  ///< `%r1`, `$L__BB0_1`, `ld`, `_`.
  kDot,         ///< A word behind a dot: `.global`, `.shared::cta`, `.2d`; the text has no dot.
  kInteger,     ///< `12`, `0x1F`, `0b11`, `017`, with or without U.
  kFloat,       ///< `1.5`, `2e3`, `0f3F800000`, `0d3FF0000000000000`.
  kString,      ///< The text has no quotes.
  kPunctuation,
  kDwarf,    ///< A whole `@@DWARF` line.
  kInvalid,  ///< A byte that begins nothing.
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  char punctuation = '\0';  ///< The byte of kPunctuation, or of two bytes:
                            ///< << l, >> r, == e, != n, <= k, >= g, && a, || o.
  std::string_view text;
  Position position = 0;
  Position end = 0;

  [[nodiscard]] bool is(char c) const {
    return kind == TokenKind::kPunctuation && punctuation == c;
  }
  [[nodiscard]] bool is_dot(std::string_view word) const {
    return kind == TokenKind::kDot && text == word;
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return kind == TokenKind::kIdentifier && text == word;
  }
};

/// Cuts a PTX text into tokens, one at a time. Comments and white space vanish.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  [[nodiscard]] Token next();
  /// Continues behind the `}` that closes the brace before `next`, braces nested and strings and
  /// comments respected; false if there is none.
  [[nodiscard]] bool skip_braces();
  [[nodiscard]] Position position() const { return static_cast<Position>(at_); }
  void seek(Position position) { at_ = position; }
  /// Where a comment began that never ended; kNoPosition if all ended.
  [[nodiscard]] Position open_comment() const { return open_comment_; }
  static constexpr Position kNoPosition = 0xffffffffU;

 private:
  void skip_blank();
  [[nodiscard]] Token number();
  [[nodiscard]] Token word(TokenKind kind, std::size_t begin);
  [[nodiscard]] Token string();
  [[nodiscard]] Token punctuation();
  [[nodiscard]] Token token(TokenKind kind, std::size_t begin) const;
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Position open_comment_ = kNoPosition;
};

}  // namespace mansard::frontend::ptx
