#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/views/json.hpp"
#include "cli/views/text_table.hpp"

/// Rows of values under named columns, shown as a text table, as JSON or as CSV.
///
///     Records machines;
///     machines.column({"name", "machine", Align::kLeft});
///     machines.column({"bandwidth_bytes_per_s", "bandwidth"});
///     machines.add({Cell::text("h200-sxm"), Cell::number(4.8e12, "4.80 TB/s")});
namespace mansard::cli {

/// A value for programs and the text that a person reads for it.
struct Cell {
  std::variant<std::monostate, std::string, double> value;
  std::string shown;

  [[nodiscard]] static Cell text(std::string_view text);
  [[nodiscard]] static Cell number(double value, std::string shown);
  [[nodiscard]] static Cell unknown() {
    return {.shown = "?"};
  }  ///< There is one, nobody knows it.
  [[nodiscard]] static Cell none() { return {.shown = "-"}; }  ///< There is none.
};

class Records {
 public:
  struct Column {
    std::string key;      ///< In JSON and CSV, with the SI unit; "" leaves the column out of them.
    std::string heading;  ///< In the table; "" leaves the column out of it.
    TextTable::Align align = TextTable::Align::kRight;
  };

  void column(Column column) { columns_.push_back(std::move(column)); }
  void add(std::vector<Cell> cells);

  [[nodiscard]] std::string table(std::size_t width = kPageWidth) const;
  [[nodiscard]] Json json() const;        ///< A list of objects; unknowns are null.
  [[nodiscard]] std::string csv() const;  ///< Unknowns are empty.

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace mansard::cli
