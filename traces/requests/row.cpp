#include "traces/requests/row.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

#include "support/document.hpp"

namespace mansard::traces::requests {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads `digits` digits at the front of `text`.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits || !std::ranges::all_of(text.substr(0, digits), is_digit)) {
    return std::nullopt;
  }
  int value = 0;
  std::from_chars(text.data(), text.data() + digits, value);
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

/// The offset from UTC at the end of a time, in minutes: "", "Z", "+00:00", "-0730".
std::optional<int> take_offset(std::string_view text) {
  if (text.empty() || text == "Z") {
    return 0;
  }
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take(text, "+-")) {
    return std::nullopt;
  }
  const auto hours = take_number(text, 2);
  take(text, ":");
  const auto minutes = text.empty() ? std::optional(0) : take_number(text, 2);
  if (!hours || !minutes || !text.empty()) {
    return std::nullopt;
  }
  return sign * (*hours * 60 + *minutes);
}

/// Digits behind a decimal point as nanoseconds; nullopt if there are none.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  std::int64_t value = 0;
  std::int64_t unit = kNsPerSecond;
  std::size_t digits = 0;
  while (!text.empty() && is_digit(text.front())) {
    unit /= 10;
    value += unit * (text.front() - '0');
    text.remove_prefix(1);
    ++digits;
  }
  return digits > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

Location Line::at(std::size_t begin, std::size_t end) const {
  auto source = std::make_shared<SourceFile>();
  source->name = file == nullptr ? "" : *file;
  source->text = std::string(text);
  source->first_line = number;
  return {std::move(source), begin, end};
}

std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t unit_ns) {
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative || text.starts_with('+') ? 1 : 0);
  if (text.empty() || !(is_digit(text.front()) || text.front() == '.')) {
    return std::nullopt;
  }
  std::int64_t whole = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc::result_out_of_range) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  __int128 value = static_cast<__int128>(whole) * unit_ns;
  if (take(text, ".")) {
    __int128 unit = unit_ns;
    while (!text.empty() && is_digit(text.front())) {
      unit /= 10;
      value += unit * (text.front() - '0');
      text.remove_prefix(1);
    }
  }
  if (take(text, "eE")) {
    take(text, "+");
    int exponent = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (bad != std::errc() || exponent < -18 || exponent > 18) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    for (; exponent > 0; --exponent) {
      value *= 10;
      if (value > std::numeric_limits<std::int64_t>::max()) {
        return std::nullopt;
      }
    }
    for (; exponent < 0; ++exponent) {
      value /= 10;
    }
  }
  if (!text.empty() || value > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(negative ? -value : value);
}

std::optional<std::int64_t> parse_date_time(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, "-")) {
    return std::nullopt;
  }
  const auto month = take_number(text, 2);
  if (!month || !take(text, "-")) {
    return std::nullopt;
  }
  const auto day = take_number(text, 2);
  if (!day || !take(text, " T")) {
    return std::nullopt;
  }
  const auto hour = take_number(text, 2);
  if (!hour || !take(text, ":")) {
    return std::nullopt;
  }
  const auto minute = take_number(text, 2);
  if (!minute || !take(text, ":")) {
    return std::nullopt;
  }
  const auto second = take_number(text, 2);
  std::int64_t fraction = 0;
  if (take(text, ".")) {
    const auto read = take_fraction(text);
    if (!read) {
      return std::nullopt;
    }
    fraction = *read;
  }
  const auto offset = take_offset(text);
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  // Years in which nanoseconds from 1970 fit an int64.
  if (!second || !offset || !date.ok() || *year < 1700 || *year > 2200 || *hour > 23 ||
      *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = ((days * 24 + *hour) * 60 + *minute - *offset) * 60 + *second;
  return seconds * kNsPerSecond + fraction;
}

std::optional<std::uint32_t> parse_tokens(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (take(rest, ".")) {  // pandas writes whole numbers of columns with gaps as "12.0"
    rest.remove_prefix(std::min(rest.find_first_not_of('0'), rest.size()));
  }
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (error != std::errc() || end == text.data() || !rest.empty() || value > kMost) {
    return std::nullopt;
  }
  return value;
}

}  // namespace mansard::traces::requests
