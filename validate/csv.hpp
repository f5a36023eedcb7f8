#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.hpp"

namespace mansard::validate {

/// A cell of a CSV text, quotes resolved, and where it stands.
struct Cell {
  std::string text;
  Location location;
};

/// Splits a CSV text (RFC 4180) into rows of cells.
class CsvScanner {
 public:
  /// Reading begins at byte `begin`; a byte order mark there is passed over.
  explicit CsvScanner(std::shared_ptr<const SourceFile> file, std::size_t begin = 0);

  /// The next row that is not empty; nullopt at the end.
  [[nodiscard]] std::optional<std::vector<Cell>> row();

 private:
  bool take(char c);
  Cell cell();
  void quoted(std::string& out);

  std::shared_ptr<const SourceFile> file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace mansard::validate
