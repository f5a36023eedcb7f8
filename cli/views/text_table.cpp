#include "cli/views/text_table.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mansard::cli {
namespace {

constexpr std::string_view kGap = "  ";
/// The last column is not made narrower than this.
constexpr std::size_t kNarrowest = 16;
constexpr std::size_t kNoteIndent = 4;

void append(std::string& line, std::string_view cell, std::size_t columns, bool right) {
  const std::string padding(columns - std::min(columns, text_width(cell)), ' ');
  line += right ? padding : "";
  line += cell;
  line += right ? "" : padding;
}

void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::size_t sum(const std::vector<std::size_t>& widths) {
  std::size_t total = kGap.size() * (widths.size() - 1);
  for (const std::size_t width : widths) {
    total += width;
  }
  return total;
}

}  // namespace

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  for (const std::string& line : lines_of(text)) {
    widest = std::max(widest, text_width(line));
  }
  return widest;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    std::string& line = lines.back();
    if (!line.empty() && text_width(line) + 1 + text_width(word) > width) {
      lines.emplace_back(word);
    } else {
      line += line.empty() ? "" : " ";
      line += word;
    }
    begin = end + 1;
  }
  return lines;
}

std::string paragraph(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  for (const std::string& line : wrapped(text, width - indent)) {
    result += result.empty() ? "" : std::string(indent, ' ');
    result += line;
    result += '\n';
  }
  return result;
}

void TextTable::column(std::string_view heading, Align align) {
  columns_.push_back({std::string(heading), align});
}

void TextTable::row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back({.cells = std::move(cells)});
}

void TextTable::note(std::string_view text) {
  assert(!rows_.empty());
  rows_.back().note = text;
}

void TextTable::rule() {
  rows_.emplace_back();
}

std::vector<TextTable::Cells> TextTable::heading_rows() const {
  std::vector<std::vector<std::string>> headings;
  std::size_t height = 0;
  for (const Column& column : columns_) {
    headings.push_back(lines_of(column.heading));
    height = std::max(height, headings.back().size());
  }
  std::vector<Cells> rows(height, Cells(columns_.size()));
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::size_t above = height - headings[c].size();
    for (std::size_t line = 0; line < headings[c].size(); ++line) {
      rows[above + line][c] = headings[c][line];
    }
  }
  return rows;
}

std::vector<std::size_t> TextTable::widths(const std::vector<Cells>& headings) const {
  std::vector<std::size_t> result(columns_.size());
  const auto widen = [&](const Cells& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      result[c] = std::max(result[c], text_width(cells[c]));
    }
  };
  std::ranges::for_each(headings, widen);
  std::ranges::for_each(rows_, widen, &Row::cells);
  return result;
}

void TextTable::append_row(std::string& text, const Cells& cells,
                           const std::vector<std::size_t>& widths) const {
  const std::size_t last = cells.size() - 1;
  const bool whole = text_width(cells[last]) <= widths[last];
  const auto lines = whole ? Cells{cells[last]} : wrapped(cells[last], widths[last]);
  for (std::size_t line = 0; line < lines.size(); ++line) {
    for (std::size_t c = 0; c < last; ++c) {
      append(text, line == 0 ? cells[c] : "", widths[c], columns_[c].align == Align::kRight);
      text += kGap;
    }
    append(text, lines[line], widths[last], columns_[last].align == Align::kRight);
    end_line(text);
  }
}

std::string TextTable::render(std::size_t width) const {
  const std::vector<Cells> headings = heading_rows();
  std::vector<std::size_t> columns = widths(headings);
  const std::size_t others = sum(columns) - columns.back();
  const std::size_t left = width > others ? width - others : 0;
  columns.back() = std::min(columns.back(), std::max(left, kNarrowest));
  std::string text;
  for (const Cells& cells : headings) {
    append_row(text, cells, columns);
  }
  for (const Row& row : rows_) {
    if (row.cells.empty()) {
      text += std::string(std::min(sum(columns), width), '-') + '\n';
      continue;
    }
    append_row(text, row.cells, columns);
    if (!row.note.empty()) {
      text += std::string(kNoteIndent, ' ') + paragraph(row.note, kNoteIndent, width);
    }
  }
  return text;
}

}  // namespace mansard::cli
