#include "validate/measure/row.hpp"

#include <charconv>
#include <cstdio>

namespace mansard::measure {

Row::Row(std::initializer_list<std::pair<std::string_view, std::string_view>> cells) {
  for (const auto& [column, text] : cells) {
    set(column, text);
  }
}

Row& Row::set(std::string_view column, std::string_view text) {
  cells_.insert_or_assign(std::string(column), std::string(text));
  return *this;
}

Row& Row::set(std::string_view column, std::int64_t number) {
  return set(column, std::string_view(std::to_string(number)));
}

Row& Row::set(std::string_view column, double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return set(column, std::string_view(text));
}

std::string_view Row::text(std::string_view column) const {
  const auto found = cells_.find(column);
  return found == cells_.end() ? std::string_view() : std::string_view(found->second);
}

std::int64_t Row::integer(std::string_view column) const {
  const std::string_view cell = text(column);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || value < 0) {
    throw UsageError("column '" + std::string(column) + "' needs a whole number, found '" +
                     std::string(cell) + "' in " + describe());
  }
  return value;
}

std::int64_t Row::integer_or(std::string_view column, std::int64_t otherwise) const {
  return has(column) ? integer(column) : otherwise;
}

std::string Row::describe() const {
  std::string result;
  for (const auto& [column, text] : cells_) {
    if (!text.empty()) {
      result += (result.empty() ? "" : " ") + column + "=" + text;
    }
  }
  return result;
}

}  // namespace mansard::measure
