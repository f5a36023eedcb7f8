#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace mansard {

/// A text that was read, with the name that diagnostics print for it: a path as the user gave it,
/// or `--set`.
struct SourceFile {
  std::string name;
  std::string text;
  std::size_t first_line = 1;  ///< Of the text, where it is a part of a larger file.
};

/// A half-open range of bytes [begin, end) of a source. A default location points nowhere and
/// prints no line.
struct Location {
  std::shared_ptr<const SourceFile> file;
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const Location&, const Location&) = default;
};

/// Line and column, both from 1; columns count bytes.
struct LineColumn {
  std::size_t line = 1;
  std::size_t column = 1;
};

[[nodiscard]] LineColumn line_column(const Location& location);

}  // namespace mansard
