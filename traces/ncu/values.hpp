#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Values of Nsight Compute: numbers with thousands separators, in units scaled for reading.
namespace mansard::traces {

/// Which of . and , groups thousands; the other is the decimal point.
enum class Locale { kUnknown, kPoint, kComma };

/// What a number tells of the locale it was written in: "1,234.5" and "1,234,567" were written with
/// a decimal point, "1.234,5" with a decimal comma, "1,234" by either.
[[nodiscard]] Locale locale_of(std::string_view number);

/// nullopt: no number ("n/a", "", "(!) nan", "CachePreferNone").
[[nodiscard]] std::optional<double> parse_number(std::string_view text, Locale locale);

/// A unit as base unit and factor: "Kbyte/block" -> 1000 "byte/block", "usecond" -> 1e-6 "second".
struct BaseUnit {
  std::string unit;
  double factor = 1;
};
[[nodiscard]] BaseUnit base_unit(std::string_view unit);

}  // namespace mansard::traces
