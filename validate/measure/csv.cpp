#include "validate/measure/csv.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mansard::measure {
namespace {

constexpr std::string_view kResultColumns[] = {
    "median_us", "min_us", "max_us", "trials", "calls", "sm_mhz", "power_w",
    "throttle",  "temp_c", "value",  "unit",   "flag",  "source"};

/// Reads one cell from `at` on, quotes resolved, and leaves `at` behind it.
std::string take_cell(std::string_view text, std::size_t& at) {
  std::string cell;
  bool quoted = at < text.size() && text[at] == '"';
  at += quoted ? 1 : 0;
  while (at < text.size() && (quoted || (text[at] != ',' && text[at] != '\n'))) {
    const char c = text[at++];
    if (quoted && c == '"') {
      quoted = at < text.size() && text[at] == '"';
      at += quoted ? 1 : 0;
      if (!quoted) {
        continue;
      }
    }
    if (c != '\r') {
      cell += c;
    }
  }
  return cell;
}

std::vector<std::string> take_line(std::string_view text, std::size_t& at) {
  std::vector<std::string> cells{take_cell(text, at)};
  while (at < text.size() && text[at] == ',') {
    cells.push_back(take_cell(text, ++at));
  }
  ++at;
  return cells;
}

std::string quote(std::string_view cell) {
  if (cell.find_first_of(",\"\n") == std::string_view::npos) {
    return std::string(cell);
  }
  std::string result = "\"";
  for (const char c : cell) {
    result += c == '"' ? std::string("\"\"") : std::string(1, c);
  }
  return result + '"';
}

std::string header_line(std::span<const std::string_view> columns) {
  Row header;
  for (const std::string_view column : columns) {
    header.set(column, column);
  }
  return csv_line(header, columns);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw UsageError("cannot read '" + path.string() + "'");
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::vector<Row> parse_csv(std::string_view text) {
  std::size_t at = 0;
  const std::vector<std::string> header = take_line(text, at);
  std::vector<Row> rows;
  while (at < text.size()) {
    const std::vector<std::string> cells = take_line(text, at);
    if (cells.size() == 1 && cells.front().empty()) {
      continue;
    }
    if (cells.size() != header.size()) {
      throw UsageError("row " + std::to_string(rows.size() + 1) + " has " +
                       std::to_string(cells.size()) + " cells, the header has " +
                       std::to_string(header.size()));
    }
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].empty()) {
        row.set(header[i], cells[i]);
      }
    }
  }
  return rows;
}

std::vector<Row> read_csv(const std::filesystem::path& path) {
  return parse_csv(read_text(path));
}

std::string csv_line(const Row& row, std::span<const std::string_view> columns) {
  std::string line;
  for (const std::string_view column : columns) {
    line += (line.empty() && column == columns.front() ? "" : ",") + quote(row.text(column));
  }
  return line;
}

bool is_result_column(std::string_view column) {
  return std::ranges::find(kResultColumns, column) != std::end(kResultColumns);
}

ResultFile::ResultFile(std::filesystem::path path, std::span<const std::string_view> columns,
                       bool resume)
    : path_(std::move(path)), columns_(columns.begin(), columns.end()) {
  std::ranges::remove_copy_if(columns_, std::back_inserter(identity_), is_result_column);
  if (!std::filesystem::exists(path_)) {
    std::filesystem::create_directories(path_.parent_path());
    file_.open(path_, std::ios::app);
    file_ << header_line(columns_) << std::endl;
  } else if (resume) {
    take_up();
  } else {
    throw UsageError("'" + path_.string() + "' exists: give --resume or another folder");
  }
  if (!file_) {
    throw UsageError("cannot write '" + path_.string() + "'");
  }
}

void ResultFile::take_up() {
  std::string text = read_text(path_);
  const std::string header = header_line(columns_);
  if (!text.starts_with(header + "\n")) {
    throw UsageError("the header of '" + path_.string() + "' is not that of this version");
  }
  // A run that was killed may have left half a line.
  text.resize(text.rfind('\n') + 1);
  std::filesystem::resize_file(path_, text.size());
  for (const Row& row : parse_csv(text)) {
    keys_.insert(key(row));
  }
  file_.open(path_, std::ios::app);
}

bool ResultFile::has(const Row& row) const {
  return keys_.contains(key(row));
}

void ResultFile::append(const Row& row) {
  file_ << csv_line(row, columns_) << std::endl;
  keys_.insert(key(row));
}

std::string ResultFile::key(const Row& row) const {
  return csv_line(row, identity_);
}

}  // namespace mansard::measure
