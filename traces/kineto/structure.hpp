#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "traces/byte_source.hpp"

namespace mansard::traces {

/// A window over a JSON text of any length, with the places of its structural characters as
/// simdjson finds them: braces, brackets, colons, commas, and where strings and other scalars
/// begin. The window begins outside any string; who reads it says how much it took, and the rest
/// stays in the next window.
class StructuredWindow {
 public:
  /// `size` bytes at first; doubled up to `largest` while a value does not fit.
  StructuredWindow(ByteSource source, std::size_t size, std::size_t largest);
  ~StructuredWindow();

  /// Drops the first `taken` bytes of the window and reads on. False: nothing new came, because the
  /// input is at its end or a value is larger than the largest window.
  [[nodiscard]] bool advance(std::size_t taken);

  [[nodiscard]] const char* text() const { return buffer_.data(); }
  /// Offsets in `text` in ascending order. One more, behind the last, is the length of the text.
  [[nodiscard]] std::span<const std::uint32_t> places() const { return places_; }
  [[nodiscard]] std::size_t length() const { return length_; }
  /// The last place is the quote of a string that does not end in this window.
  [[nodiscard]] bool cut_in_string() const { return cut_in_string_; }
  /// Bytes of the text that lie before the window.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] bool at_end() const { return at_end_; }
  /// Some bytes of the window are not UTF-8.
  [[nodiscard]] bool malformed_text() const { return malformed_text_; }
  /// Control characters within strings, which JSON forbids, so far; read as spaces.
  [[nodiscard]] std::uint64_t control_characters() const { return control_characters_; }
  [[nodiscard]] const ByteSource& source() const { return source_; }

 private:
  struct Indexer;
  void fill();
  [[nodiscard]] std::size_t cut() const;
  void index();
  [[nodiscard]] int find_places(std::size_t length);
  void close_string();
  void blank_control_characters();

  ByteSource source_;
  std::unique_ptr<Indexer> indexer_;
  std::vector<char> buffer_;
  std::size_t size_;
  std::size_t largest_;
  std::size_t filled_ = 0;  ///< Bytes of the buffer that hold input.
  std::size_t length_ = 0;  ///< Those of them that the window shows.
  std::uint64_t offset_ = 0;
  std::uint64_t control_characters_ = 0;
  std::span<const std::uint32_t> places_;
  bool at_end_ = false;
  bool cut_in_string_ = false;
  bool malformed_text_ = false;
};

}  // namespace mansard::traces
