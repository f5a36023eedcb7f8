#include "cli/views/csv.hpp"

#include <cmath>

#include <fmt/format.h>

namespace mansard::cli {
namespace {

/// Doubles below this are exact as integers.
constexpr double kExactIntegers = 0x1p63;

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string result = "\"";
  for (const char c : text) {
    result += c;
    result += c == '"' ? "\"" : "";
  }
  return result + "\"";
}

std::string csv_record(std::span<const std::string> fields) {
  std::string line;
  for (const std::string& field : fields) {
    line += line.empty() && &field == fields.data() ? "" : ",";
    line += csv_field(field);
  }
  return line + "\n";
}

std::string csv_number(double value) {
  const bool whole = std::trunc(value) == value && std::abs(value) < kExactIntegers;
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

}  // namespace mansard::cli
