#include "validate/measurements.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "validate/csv.hpp"

namespace mansard::validate {
namespace {

constexpr std::size_t kMostErrors = 20;
constexpr double kMicrosecond = 1e-6;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string> split_flags(std::string_view text) {
  std::vector<std::string> flags;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    flags.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return flags;
}

/// Where a text column goes; nullptr for numeric ones.
std::string* text_field(ir::Measurement& m, std::string_view column) {
  struct Field {
    std::string_view column;
    std::string ir::Measurement::* field;
  };
  static constexpr Field kFields[] = {
      {"machine", &ir::Measurement::machine},
      {"implementation", &ir::Measurement::implementation},
      {"mode", &ir::Measurement::mode},
      {"op", &ir::Measurement::op},
      {"phase", &ir::Measurement::phase},
      {"model", &ir::Measurement::model},
      {"dtype", &ir::Measurement::dtype},
      {"out_dtype", &ir::Measurement::out_dtype},
      {"kv_dtype", &ir::Measurement::kv_dtype},
      {"source", &ir::Measurement::source},
  };
  for (const Field& field : kFields) {
    if (field.column == column) {
      return &(m.*field.field);
    }
  }
  return nullptr;
}

class RowReader {
 public:
  explicit RowReader(std::vector<Cell> header) : header_(std::move(header)) {
    for (const char* column : {"machine", "implementation", "mode", "op", "median_us"}) {
      const bool found = std::any_of(header_.begin(), header_.end(),
                                     [&](const Cell& cell) { return cell.text == column; });
      if (!found) {
        error("missing-column", fmt::format("a measurement file needs a column '{}'", column),
              header_.front().location);
      }
    }
  }

  [[nodiscard]] Diagnostics& errors() { return errors_; }

  std::optional<ir::Measurement> read(const std::vector<Cell>& cells) {
    if (cells.size() != header_.size()) {
      error(
          "ragged-row",
          fmt::format("expected {} cells as in the header, found {}", header_.size(), cells.size()),
          cells.back().location);
      return std::nullopt;
    }
    ir::Measurement result;
    result.location = {cells.front().location.file, cells.front().location.begin,
                       cells.back().location.end};
    for (std::size_t c = 0; c < cells.size(); ++c) {
      read_cell(header_[c].text, cells[c], result);
    }
    return result;
  }

 private:
  void read_cell(const std::string& column, const Cell& cell, ir::Measurement& out) {
    if (std::string* field = text_field(out, column)) {
      *field = cell.text;
      return;
    }
    if (column == "flag") {
      out.flags = split_flags(cell.text);
      return;
    }
    const std::optional<double> value = number(cell.text);
    if (column == "median_us") {
      if (!value || *value <= 0) {
        error("time", fmt::format("expected a time above 0 us, found '{}'", cell.text),
              cell.location);
      }
      out.median_s = value.value_or(0) * kMicrosecond;
    } else if (column == "resolution_us") {
      out.resolution_s = value.value_or(0) * kMicrosecond;
    } else if (value) {
      out.dims[column] = *value;
    }
  }

  void error(std::string id, std::string message, const Location& location) {
    errors_.push_back({std::move(id), std::move(message), location, {}, Severity::kError});
  }

  std::vector<Cell> header_;
  Diagnostics errors_;
};

}  // namespace

bool describes_shape(std::string_view column) {
  constexpr std::string_view kConditions[] = {"sm_mhz", "power_w", "temp_c", "trials", "calls"};
  return !column.ends_with("_us") &&
         std::find(std::begin(kConditions), std::end(kConditions), column) == std::end(kConditions);
}

Result<std::vector<ir::Measurement>> read_measurements(std::shared_ptr<const SourceFile> file) {
  const std::string name = file->name;
  CsvScanner scanner(std::move(file));
  auto header = scanner.row();
  if (!header) {
    return failure("empty-file", fmt::format("{}: a measurement file has a header line", name));
  }
  RowReader reader(std::move(*header));
  std::vector<ir::Measurement> rows;
  while (reader.errors().size() < kMostErrors) {
    const auto cells = scanner.row();
    if (!cells) {
      break;
    }
    if (auto row = reader.read(*cells)) {
      rows.push_back(std::move(*row));
    }
  }
  if (!reader.errors().empty()) {
    return failure(std::move(reader.errors()));
  }
  return rows;
}

}  // namespace mansard::validate
