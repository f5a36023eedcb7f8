#include "traces/ncu/values.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace mansard::traces {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Every `separator` stands before exactly three digits.
bool groups_thousands(std::string_view number, char separator) {
  constexpr std::size_t kGroup = 3;
  for (std::size_t at = number.find(separator); at != std::string_view::npos;
       at = number.find(separator, at + 1)) {
    std::size_t digits = 0;
    while (at + 1 + digits < number.size() && is_digit(number[at + 1 + digits])) {
      ++digits;
    }
    if (digits != kGroup) {
      return false;
    }
  }
  return true;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,-+eE") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

struct Prefix {
  std::string_view unit;
  std::string_view base;
  double factor;
};
constexpr std::array kPrefixes{Prefix{"Kbyte", "byte", 1e3},      Prefix{"Mbyte", "byte", 1e6},
                               Prefix{"Gbyte", "byte", 1e9},      Prefix{"Tbyte", "byte", 1e12},
                               Prefix{"nsecond", "second", 1e-9}, Prefix{"usecond", "second", 1e-6},
                               Prefix{"msecond", "second", 1e-3}, Prefix{"ns", "second", 1e-9},
                               Prefix{"us", "second", 1e-6},      Prefix{"ms", "second", 1e-3},
                               Prefix{"s", "second", 1},          Prefix{"sec", "second", 1},
                               Prefix{"Khz", "hz", 1e3},          Prefix{"Mhz", "hz", 1e6},
                               Prefix{"Ghz", "hz", 1e9},          Prefix{"Hz", "hz", 1},
                               Prefix{"Kinst", "inst", 1e3},      Prefix{"Minst", "inst", 1e6},
                               Prefix{"Ginst", "inst", 1e9}};

BaseUnit base_of(std::string_view unit) {
  for (const Prefix& prefix : kPrefixes) {
    if (unit == prefix.unit) {
      return {std::string(prefix.base), prefix.factor};
    }
  }
  return {std::string(unit), 1};
}

}  // namespace

Locale locale_of(std::string_view number) {
  if (!is_number(number)) {
    return Locale::kUnknown;
  }
  const std::size_t comma = number.rfind(',');
  const std::size_t point = number.rfind('.');
  if (comma != std::string_view::npos && point != std::string_view::npos) {
    return comma < point ? Locale::kPoint : Locale::kComma;
  }
  if (comma == std::string_view::npos && point == std::string_view::npos) {
    return Locale::kUnknown;
  }
  const char only = comma != std::string_view::npos ? ',' : '.';
  const Locale as_decimal = only == ',' ? Locale::kComma : Locale::kPoint;
  const Locale as_thousands = only == ',' ? Locale::kPoint : Locale::kComma;
  if (!groups_thousands(number, only)) {
    return as_decimal;
  }
  return number.find(only) != number.rfind(only) ? as_thousands : Locale::kUnknown;
}

std::optional<double> parse_number(std::string_view text, Locale locale) {
  if (!is_number(text)) {
    return std::nullopt;
  }
  const char thousands = locale == Locale::kComma ? '.' : ',';
  std::string plain;
  for (const char c : text) {
    if (c != thousands) {
      plain += c == ',' ? '.' : c;
    }
  }
  double value = 0;
  const char* first = plain.data() + (plain.front() == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(first, plain.data() + plain.size(), value);
  const bool whole = error == std::errc() && end == plain.data() + plain.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

BaseUnit base_unit(std::string_view unit) {
  const std::size_t slash = unit.find('/');
  if (slash == std::string_view::npos) {
    return base_of(unit);
  }
  BaseUnit result = base_of(unit.substr(0, slash));
  const BaseUnit below = base_of(unit.substr(slash + 1));
  result.unit += "/" + below.unit;
  result.factor /= below.factor;
  return result;
}

}  // namespace mansard::traces
