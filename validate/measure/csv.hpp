#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/measure/row.hpp"

namespace mansard::measure {

/// The rows below the header of a CSV text (RFC 4180); empty cells are absent. Throws UsageError on
/// a ragged row.
[[nodiscard]] std::vector<Row> parse_csv(std::string_view text);

/// The rows of a file. Throws UsageError when it cannot be read.
[[nodiscard]] std::vector<Row> read_csv(const std::filesystem::path& path);

/// One line of the columns' cells, quoted where needed, without the line's end.
[[nodiscard]] std::string csv_line(const Row& row, std::span<const std::string_view> columns);

/// The columns that a measurement has beside those that say what was measured: times, counts of
/// trials, clocks.
[[nodiscard]] bool is_result_column(std::string_view column);

/// A CSV that grows row by row, flushed after each, and can be taken up again: a row counts as
/// measured when a row of the file has the same cells in every column that is no result.
class ResultFile {
 public:
  /// Creates the file with its header, or reads it when it exists and `resume` is set. Throws
  /// UsageError when it exists and `resume` is not set, or when its header differs.
  ResultFile(std::filesystem::path path, std::span<const std::string_view> columns, bool resume);

  [[nodiscard]] bool has(const Row& row) const;
  void append(const Row& row);
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  [[nodiscard]] std::string key(const Row& row) const;
  void take_up();

  std::filesystem::path path_;
  std::vector<std::string_view> columns_;
  std::vector<std::string_view> identity_;
  std::set<std::string> keys_;
  std::ofstream file_;
};

}  // namespace mansard::measure
