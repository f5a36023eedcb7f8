#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace mansard {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

bool is_continuation(std::uint8_t byte) {
  return (byte & 0xC0U) == 0x80U;
}

/// Length that a first byte announces, 0 if it may not stand first.
std::size_t announced_length(std::uint8_t lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return 2;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    return 3;
  }
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/// Refuses overlong forms, surrogates and what lies above U+10FFFF: all are decided by the second
/// byte.
bool second_byte_allowed(std::uint8_t lead, std::uint8_t second) {
  switch (lead) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second <= 0x9F;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second <= 0x8F;
    default:
      return true;
  }
}

/// The payload of a first byte, by the length of its sequence.
constexpr std::array<std::uint8_t, 5> kLeadBits = {0, 0x7F, 0x1F, 0x0F, 0x07};

char32_t decode(std::string_view sequence) {
  char32_t code_point = byte_at(sequence, 0) & kLeadBits.at(sequence.size());
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    code_point = (code_point << 6U) | (byte_at(sequence, i) & 0x3FU);
  }
  return code_point;
}

/// C1 controls, line separators and the characters that make a line read in another order than its
/// bytes.
bool is_deceptive(char32_t c) {
  return (c >= 0x80 && c <= 0x9F) || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

PrintedCharacter escaped(std::string text, std::size_t bytes) {
  const std::size_t cells = text.size();
  return {.text = std::move(text), .bytes = bytes, .cells = cells};
}

bool is_control(std::uint8_t byte) {
  return byte < 0x20 || byte == 0x7F;
}

bool is_line_space(std::uint8_t byte) {
  return byte == '\t' || byte == '\n' || byte == '\r';
}

}  // namespace

std::size_t byte_order_mark_length(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const std::uint8_t lead = byte_at(text, at);
  const std::size_t length = announced_length(lead);
  if (length <= 1) {
    return length;
  }
  if (text.size() - at < length || !second_byte_allowed(lead, byte_at(text, at + 1))) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(byte_at(text, at + i))) {
      return 0;
    }
  }
  return length;
}

PrintedCharacter printed_character(std::string_view text, std::size_t at) {
  const std::uint8_t byte = byte_at(text, at);
  const std::size_t length = utf8_length(text, at);
  if (length == 0 || (is_control(byte) && byte != '\t')) {
    return escaped(fmt::format("\\x{:02x}", byte), 1);
  }
  const std::string_view sequence = text.substr(at, length);
  const char32_t code_point = decode(sequence);
  if (is_deceptive(code_point)) {
    return escaped(fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code_point)), length);
  }
  return {.text = std::string(sequence), .bytes = length, .cells = 1};
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const PrintedCharacter character = printed_character(text, at);
    if (text[at] == '\n') {
      result += "\\n";
    } else if (text[at] == '\t') {
      result += "\\t";
    } else {
      result += character.text;
    }
    at += character.bytes;
  }
  return result;
}

std::optional<Diagnostic> find_non_text(const std::shared_ptr<const SourceFile>& file) {
  const std::string_view text = file->text;
  for (std::size_t at = 0; at < text.size();) {
    const std::uint8_t byte = byte_at(text, at);
    if (byte < 0x20 && !is_line_space(byte)) {
      return Diagnostic{
          .id = "text-control",
          .message = fmt::format("expected text, found the control byte 0x{:02x}", byte),
          .location = {file, at, at + 1},
          .label = {}};
    }
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      return Diagnostic{
          .id = "text-utf8",
          .message = fmt::format("expected UTF-8 text, found the byte 0x{:02x}", byte),
          .location = {file, at, at + 1},
          .label = {}};
    }
    at += length;
  }
  return std::nullopt;
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto put = [&text](char32_t bits) { text += static_cast<char>(bits); };
  const auto put_tail = [&put](char32_t bits) { put(0x80U | (bits & 0x3FU)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0U | (code_point >> 6U));
    put_tail(code_point);
  } else if (code_point < 0x10000) {
    put(0xE0U | (code_point >> 12U));
    put_tail(code_point >> 6U);
    put_tail(code_point);
  } else {
    put(0xF0U | (code_point >> 18U));
    put_tail(code_point >> 12U);
    put_tail(code_point >> 6U);
    put_tail(code_point);
  }
}

}  // namespace mansard
