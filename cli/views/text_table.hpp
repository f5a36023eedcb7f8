#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mansard::cli {

/// Columns that a page of text takes.
inline constexpr std::size_t kPageWidth = 100;

/// A table of text: columns as wide as their widest cell, numbers to the right.
class TextTable {
 public:
  enum class Align { kLeft, kRight };

  /// A heading may have several lines; they stand at the foot of the heading.
  void column(std::string_view heading, Align align = Align::kRight);
  void row(std::vector<std::string> cells);
  /// A remark on the row above, below it and indented, over as many lines as it takes.
  void note(std::string_view text);
  void rule();  ///< A line of dashes below the rows so far.
  /// Lines at most `width` wide: words of the last column that do not fit go to further lines. No
  /// line ends in a space.
  [[nodiscard]] std::string render(std::size_t width = kPageWidth) const;

 private:
  struct Column {
    std::string heading;
    Align align;
  };
  using Cells = std::vector<std::string>;
  struct Row {
    Cells cells;  ///< Empty of a rule.
    std::string note;
  };

  [[nodiscard]] std::vector<std::size_t> widths(const std::vector<Cells>& headings) const;
  [[nodiscard]] std::vector<Cells> heading_rows() const;
  void append_row(std::string& text, const Cells& cells,
                  const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Characters of the longest line of a text.
[[nodiscard]] std::size_t widest_line(std::string_view text);

/// Characters of a UTF-8 text.
[[nodiscard]] std::size_t text_width(std::string_view text);

/// Words of a text over lines at most `width` wide; a longer word gets a line of its own.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);
/// The same as one text, each line after the first behind `indent` spaces.
[[nodiscard]] std::string paragraph(std::string_view text, std::size_t indent = 0,
                                    std::size_t width = kPageWidth);

}  // namespace mansard::cli
