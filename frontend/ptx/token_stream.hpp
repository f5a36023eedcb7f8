#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frontend/ptx/lexer.hpp"
#include "support/diagnostic.hpp"

namespace mansard::frontend::ptx {

/// Collects what is wrong with one file, up to a limit.
class Report {
 public:
  explicit Report(std::shared_ptr<const SourceFile> source) : source_(std::move(source)) {}

  void error(std::string id, std::string message, Position begin, Position end,
             std::string label = {});
  void warning(std::string id, std::string message, Position begin, Position end,
               std::string label = {});
  /// So many errors that the rest would not help.
  [[nodiscard]] bool is_full() const { return errors_ >= kLimit; }
  [[nodiscard]] bool has_errors() const { return errors_ != 0; }
  [[nodiscard]] const Diagnostics& diagnostics() const { return diagnostics_; }
  [[nodiscard]] const std::shared_ptr<const SourceFile>& source() const { return source_; }

 private:
  static constexpr std::size_t kLimit = 50;

  std::shared_ptr<const SourceFile> source_;
  Diagnostics diagnostics_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// Tokens with two of look-ahead, and expectations that report what was found instead.
class TokenStream {
 public:
  TokenStream(std::string_view text, Report& report);

  [[nodiscard]] const Token& peek() const { return current_; }
  [[nodiscard]] const Token& peek_second() const { return second_; }
  Token take();
  /// Takes the token if it is the punctuation `c`.
  bool accept(char c);
  bool accept_dot(std::string_view word);
  /// Takes the punctuation, or reports `what` was expected.
  bool expect(char c, std::string_view what);
  /// Takes an identifier, or reports `what` was expected and gives an empty token.
  Token expect_identifier(std::string_view what);
  /// Reports that `what` was expected where the next token stands.
  void expected(std::string_view what);
  /// The end of the token taken last.
  [[nodiscard]] Position last_end() const { return last_end_; }
  /// Skips a balanced `{...}` that begins at the next token, without reading what is in it as PTX.
  bool skip_braces();
  /// Skips to the end of the statement: behind a `;`, or before a brace.
  void recover();

 private:
  Lexer lexer_;
  Report& report_;
  Token current_;
  Token second_;
  Position last_end_ = 0;
};

/// What a token is called in a message: "'%r1'", "end of file".
[[nodiscard]] std::string describe(const Token& token);

}  // namespace mansard::frontend::ptx
