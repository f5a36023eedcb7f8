#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/diagnostic.hpp"

/// Bytes of a text: what is UTF-8, what may be shown to a person, what is not text at all.
namespace mansard {

/// Length in bytes of a UTF-8 byte order mark at the start of `text`: 3 or 0.
[[nodiscard]] std::size_t byte_order_mark_length(std::string_view text);

/// Length in bytes, 1 to 4, of the UTF-8 sequence at `at`; 0 if the bytes there are not one (RFC
/// 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

/// The character at `at` as it may be printed, and how many bytes of `text` it took. Control bytes,
/// malformed bytes and characters that reorder text are escaped (`\x1b`, `\u202e`); everything
/// else, a tab included, stands for itself.
struct PrintedCharacter {
  std::string text;
  std::size_t bytes = 1;
  std::size_t cells = 1;  ///< Columns on a terminal, one a character.
};
[[nodiscard]] PrintedCharacter printed_character(std::string_view text, std::size_t at);

/// A text from a user, safe to print within a line: escaped as above, tabs and line ends too.
[[nodiscard]] std::string printable(std::string_view text);

/// The first place of a file that is not UTF-8 text: a malformed sequence, or a control byte other
/// than tab, line feed and carriage return.
[[nodiscard]] std::optional<Diagnostic> find_non_text(
    const std::shared_ptr<const SourceFile>& file);

/// Appends the UTF-8 encoding of a code point below 0x110000.
void append_utf8(std::string& text, char32_t code_point);

}  // namespace mansard
