#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "traces/kineto/structure.hpp"

/// Values of a window, by the number of their first place.
namespace mansard::traces {

/// Where a value ends, or why it does not.
enum class Walk : std::uint8_t { kDone, kCut, kBroken };

class Tokens {
 public:
  explicit Tokens(const StructuredWindow& window)
      : text_(window.text()),
        places_(window.places().data()),
        count_(window.places().size()),
        whole_(count_),
        length_(window.length()),
        malformed_(window.malformed_text()) {
    if (count_ > 0 && (window.cut_in_string() || (!window.at_end() && is_bare(count_ - 1)))) {
      --whole_;  // The next window may hold the rest of it.
    }
  }

  /// Places whose values lie whole in the window, but for the one that begins at the last.
  [[nodiscard]] std::size_t count() const { return whole_; }
  [[nodiscard]] char operator[](std::size_t i) const { return text_[places_[i]]; }
  [[nodiscard]] std::size_t begin(std::size_t i) const { return i < count_ ? places_[i] : length_; }

  /// The scalar at place i without quotes and blanks, escapes left as they are.
  [[nodiscard]] std::string_view scalar(std::size_t i) const {
    const char* first = text_ + places_[i];
    const char* last = text_ + begin(i + 1);
    while (last > first && static_cast<unsigned char>(last[-1]) <= ' ') {
      --last;
    }
    if (*first == '"') {
      ++first;
      last -= last > first && last[-1] == '"' ? 1 : 0;
    }
    return {first, static_cast<std::size_t>(last - first)};
  }
  /// A string with its escapes resolved and bad bytes replaced; in `scratch` if it had any.
  [[nodiscard]] std::string_view string(std::size_t i, std::string& scratch) const;
  /// The text of places [first, last) without blanks between them.
  [[nodiscard]] std::string compact(std::size_t first, std::size_t last) const;

  /// The place behind the value at `i`; nullopt if the window ends within it.
  [[nodiscard]] std::optional<std::size_t> behind(std::size_t i) const {
    const char c = (*this)[i];
    if (c != '{' && c != '[') {
      return i + 1 < count_ ? std::optional(i + 1) : std::nullopt;
    }
    int depth = 0;
    for (; i < whole_; ++i) {
      const char inner = (*this)[i];
      depth += (inner == '{' || inner == '[') ? 1 : 0;
      depth -= (inner == '}' || inner == ']') ? 1 : 0;
      if (depth == 0) {
        return i + 1;
      }
    }
    return std::nullopt;
  }

  /// Calls `member(key, i)` for each member of the object at `i`, with the place of its value, and
  /// moves `i` behind the object, or to the place that is wrong.
  template <typename Member>
  [[nodiscard]] Walk members(std::size_t& i, Member member) const {
    std::size_t at = i + 1;
    while (at < whole_) {
      const char c = (*this)[at];
      if (c == '}') {
        i = at + 1;
        return Walk::kDone;
      }
      if (c == ',') {  // One too many is forgiven.
        ++at;
        continue;
      }
      if (at + 2 >= whole_) {
        return Walk::kCut;
      }
      const char value = (*this)[at + 2];
      if (c != '"' || (*this)[at + 1] != ':' || value == ',' || value == '}' || value == ']' ||
          value == ':') {
        i = at;
        return Walk::kBroken;
      }
      const std::optional<std::size_t> next = behind(at + 2);
      if (!next || *next >= whole_) {
        return Walk::kCut;
      }
      if ((*this)[*next] != ',' && (*this)[*next] != '}') {
        i = *next;
        return Walk::kBroken;
      }
      member(scalar(at), at + 2);
      at = *next;
    }
    return Walk::kCut;
  }

 private:
  /// A number or word, which does not tell where it ends.
  [[nodiscard]] bool is_bare(std::size_t i) const {
    constexpr std::string_view kOthers = "{}[],:\"";
    return kOthers.find((*this)[i]) == std::string_view::npos;
  }

  const char* text_;
  const std::uint32_t* places_;
  std::size_t count_;
  std::size_t whole_;
  std::size_t length_;
  bool malformed_;
};

/// A JSON string's content with escapes resolved and bytes that are not UTF-8 replaced.
[[nodiscard]] std::string unescaped(std::string_view text);

}  // namespace mansard::traces
