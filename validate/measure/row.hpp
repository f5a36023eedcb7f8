#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace mansard::measure {

/// What the user gave cannot be run: a bad option, a shape without a dimension. The text says what
/// was found and what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One line of a CSV: a cell for some of the columns. It describes an op to measure (`op`, `dtype`,
/// `m`, ...) and, with its times in it, a measurement.
class Row {
 public:
  Row() = default;
  Row(std::initializer_list<std::pair<std::string_view, std::string_view>> cells);

  Row& set(std::string_view column, std::string_view text);
  Row& set(std::string_view column, std::int64_t number);
  /// Six significant digits.
  Row& set(std::string_view column, double number);
  Row& set(std::string_view column, const char* text) {
    return set(column, std::string_view(text));
  }
  Row& set(std::string_view column, int number) { return set(column, std::int64_t{number}); }

  /// The cell, empty where there is none.
  [[nodiscard]] std::string_view text(std::string_view column) const;
  [[nodiscard]] bool has(std::string_view column) const { return !text(column).empty(); }
  /// A positive whole number. Throws UsageError where the cell is absent or something else.
  [[nodiscard]] std::int64_t integer(std::string_view column) const;
  [[nodiscard]] std::int64_t integer_or(std::string_view column, std::int64_t otherwise) const;

  /// `op=matmul dtype=bf16 m=1`, for messages: the cells that have text, by column.
  [[nodiscard]] std::string describe() const;

 private:
  std::map<std::string, std::string, std::less<>> cells_;
};

}  // namespace mansard::measure
