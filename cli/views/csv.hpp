#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Comma-separated values as RFC 4180 has them, with a line feed at the end of a record.
namespace mansard::cli {

/// A field, in quotes where it holds a comma, a quote or a line end.
[[nodiscard]] std::string csv_field(std::string_view text);
[[nodiscard]] std::string csv_record(std::span<const std::string> fields);
/// A number in the shortest form that reads back as the same double; whole numbers without a
/// fraction.
[[nodiscard]] std::string csv_number(double value);

}  // namespace mansard::cli
