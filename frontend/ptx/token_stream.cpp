#include "frontend/ptx/token_stream.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "support/text.hpp"

namespace mansard::frontend::ptx {

void Report::error(std::string id, std::string message, Position begin, Position end,
                   std::string label) {
  if (errors_++ < kLimit) {
    diagnostics_.push_back({std::move(id),
                            std::move(message),
                            {source_, begin, end},
                            std::move(label),
                            Severity::kError});
  }
}

void Report::warning(std::string id, std::string message, Position begin, Position end,
                     std::string label) {
  if (warnings_++ < kLimit) {
    diagnostics_.push_back({std::move(id),
                            std::move(message),
                            {source_, begin, end},
                            std::move(label),
                            Severity::kWarning});
  }
}

TokenStream::TokenStream(std::string_view text, Report& report)
    : lexer_(text), report_(report), current_(lexer_.next()), second_(lexer_.next()) {}

Token TokenStream::take() {
  const Token taken = current_;
  last_end_ = taken.end;
  current_ = second_;
  second_ = lexer_.next();
  return taken;
}

bool TokenStream::accept(char c) {
  if (!current_.is(c)) {
    return false;
  }
  take();
  return true;
}

bool TokenStream::accept_dot(std::string_view word) {
  if (!current_.is_dot(word)) {
    return false;
  }
  take();
  return true;
}

bool TokenStream::expect(char c, std::string_view what) {
  if (accept(c)) {
    return true;
  }
  expected(what);
  return false;
}

Token TokenStream::expect_identifier(std::string_view what) {
  if (current_.kind == TokenKind::kIdentifier) {
    return take();
  }
  expected(what);
  return {
      .kind = TokenKind::kInvalid, .text = {}, .position = current_.position, .end = current_.end};
}

void TokenStream::expected(std::string_view what) {
  if (lexer_.open_comment() != Lexer::kNoPosition) {
    report_.error("ptx-syntax", "comment without an end", lexer_.open_comment(),
                  lexer_.open_comment() + 2, "expected */");
    return;
  }
  report_.error("ptx-syntax", fmt::format("expected {}, found {}", what, describe(current_)),
                current_.position, std::max(current_.end, current_.position + 1));
}

bool TokenStream::skip_braces() {
  lexer_.seek(current_.position);
  const bool closed = lexer_.skip_braces();
  last_end_ = lexer_.position();
  current_ = lexer_.next();
  second_ = lexer_.next();
  return closed;
}

void TokenStream::recover() {
  while (current_.kind != TokenKind::kEnd && !current_.is('{') && !current_.is('}')) {
    if (take().is(';')) {
      return;
    }
  }
}

std::string describe(const Token& token) {
  if (token.kind == TokenKind::kEnd) {
    return "end of file";
  }
  constexpr std::size_t kLongest = 40;
  const std::string_view dot = token.kind == TokenKind::kDot ? "." : "";
  return fmt::format("'{}{}'", dot, printable(token.text.substr(0, kLongest)));
}

}  // namespace mansard::frontend::ptx
