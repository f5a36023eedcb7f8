#include "cli/views/records.hpp"

#include <cassert>
#include <utility>

#include "cli/views/csv.hpp"

namespace mansard::cli {
namespace {

Json json_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) {
    return *text;
  }
  if (const auto* number = std::get_if<double>(&cell.value)) {
    return json_number(*number);
  }
  return nullptr;
}

std::string csv_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) {
    return *text;
  }
  if (const auto* number = std::get_if<double>(&cell.value)) {
    return csv_number(*number);
  }
  return "";
}

}  // namespace

Cell Cell::text(std::string_view text) {
  return {.value = std::string(text), .shown = std::string(text)};
}

Cell Cell::number(double value, std::string shown) {
  return {.value = value, .shown = std::move(shown)};
}

void Records::add(std::vector<Cell> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Records::table(std::size_t width) const {
  TextTable table;
  for (const Column& column : columns_) {
    if (!column.heading.empty()) {
      table.column(column.heading, column.align);
    }
  }
  for (const auto& cells : rows_) {
    std::vector<std::string> shown;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (!columns_[c].heading.empty()) {
        shown.push_back(cells[c].shown);
      }
    }
    table.row(std::move(shown));
  }
  return table.render(width);
}

Json Records::json() const {
  Json list = Json::array();
  for (const auto& cells : rows_) {
    Json object = Json::object();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (!columns_[c].key.empty()) {
        object[columns_[c].key] = json_of(cells[c]);
      }
    }
    list.push_back(std::move(object));
  }
  return list;
}

std::string Records::csv() const {
  std::vector<std::string> fields;
  for (const Column& column : columns_) {
    if (!column.key.empty()) {
      fields.push_back(column.key);
    }
  }
  std::string text = csv_record(fields);
  for (const auto& cells : rows_) {
    fields.clear();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (!columns_[c].key.empty()) {
        fields.push_back(csv_of(cells[c]));
      }
    }
    text += csv_record(fields);
  }
  return text;
}

}  // namespace mansard::cli
