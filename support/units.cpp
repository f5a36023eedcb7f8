#include "support/units.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "support/suggest.hpp"
#include "support/unit_table.hpp"

namespace mansard {
namespace {

/// Exponents of units beyond this are a slip.
constexpr int kLargestPower = 9;
/// Powers of ten beyond this are out of range of a double whatever the digits, as far as a person
/// types them.
constexpr int kLargestExponent = 100000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_space(char c) {
  return c == ' ' || c == '\t';
}

/// Part of a text, in bytes.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A place within the text of `location`. Of a scalar whose text is not what stands in the file
/// (escapes, folding), the whole is the narrowest place there is.
Location within(const Location& location, std::string_view text, Range range) {
  if (!location.file || location.end > location.file->text.size() ||
      location.begin > location.end) {
    return location;
  }
  const std::string_view raw =
      std::string_view(location.file->text).substr(location.begin, location.end - location.begin);
  const bool quoted = raw.size() == text.size() + 2 && raw.substr(1, text.size()) == text;
  if (!quoted && raw != text) {
    return location;
  }
  const std::size_t base = location.begin + (quoted ? 1 : 0);
  return {location.file, base + range.begin, base + range.end};
}

/// Reads a number and a unit expression; keeps the first error.
class MeasureParser {
 public:
  MeasureParser(std::string_view text, const Location& location)
      : text_(text), location_(&location) {}

  struct Parsed {
    double value = 0;
    UnitScale scale;
    Range number;
    Range unit;  ///< Empty if there is none.
  };

  Result<Parsed> parse() {
    end_ = text_.find_last_not_of(" \t") + 1;
    skip_space();
    Parsed parsed;
    if (!read_number(parsed) || !read_unit(parsed) || !compute(parsed)) {
      return failure(std::move(diagnostics_));
    }
    return parsed;
  }

 private:
  bool read_number(Parsed& parsed);
  bool read_exponent();
  bool read_unit(Parsed& parsed);
  bool read_factor(UnitScale& scale, bool divides);
  std::optional<int> read_power();
  bool compute(Parsed& parsed);
  bool unknown_unit(Range range);

  [[nodiscard]] char peek() const { return at_ < end_ ? text_[at_] : '\0'; }
  void skip_space() {
    while (is_space(peek())) {
      ++at_;
    }
  }
  std::size_t skip_digits() {
    const std::size_t begin = at_;
    while (is_digit(peek())) {
      ++at_;
    }
    return at_ - begin;
  }
  bool fail(std::string id, std::string message, Range range, std::string label = {}) {
    diagnostics_.push_back({.id = std::move(id),
                            .message = std::move(message),
                            .location = within(*location_, text_, range),
                            .label = std::move(label)});
    return false;
  }

  std::string_view text_;
  const Location* location_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::string mantissa_;
  int exponent10_ = 0;
  Diagnostics diagnostics_;
};

bool MeasureParser::read_number(Parsed& parsed) {
  const std::size_t begin = at_;
  const bool negative = peek() == '-';
  at_ += negative || peek() == '+' ? 1 : 0;
  const std::size_t digits_begin = at_;
  std::size_t digits = skip_digits();
  if (peek() == '.') {
    ++at_;
    digits += skip_digits();
  }
  if (digits == 0) {
    const std::size_t end = std::max(begin, std::min(end_, text_.find_first_of(" \t", begin)));
    return fail("unit-number",
                text_.empty() || begin == end ? "expected a number" : "expected a finite number",
                {begin, end});
  }
  mantissa_ = (negative ? "-" : "") + std::string(text_.substr(digits_begin, at_ - digits_begin));
  if (!read_exponent()) {
    return false;
  }
  parsed.number = {begin, at_};
  return true;
}

/// "e12", but not the E of "1 EB" or "1EB".
bool MeasureParser::read_exponent() {
  const std::size_t begin = at_;
  if (peek() != 'e' && peek() != 'E') {
    return true;
  }
  ++at_;
  const bool negative = peek() == '-';
  at_ += negative || peek() == '+' ? 1 : 0;
  const std::size_t digits_begin = at_;
  if (skip_digits() == 0) {
    at_ = begin;
    return true;
  }
  const auto [stop, error] =
      std::from_chars(text_.data() + digits_begin, text_.data() + at_, exponent10_);
  if (error != std::errc{} || exponent10_ > kLargestExponent) {
    return fail("unit-number", "this number is out of range", {begin, at_});
  }
  exponent10_ = negative ? -exponent10_ : exponent10_;
  return true;
}

/// factor { ("/" | "*") factor }, and either "1/" or "/" may stand first.
bool MeasureParser::read_unit(Parsed& parsed) {
  skip_space();
  const std::size_t begin = at_;
  bool divides = false;
  if (text_.substr(at_, 2) == "1/" && at_ + 2 < end_) {
    ++at_;
  }
  if (at_ == end_) {
    return true;
  }
  if (peek() == '/') {
    divides = true;
    ++at_;
  }
  while (read_factor(parsed.scale, divides)) {
    if (at_ == end_) {
      parsed.unit = {begin, end_};
      return true;
    }
    if (peek() != '/' && peek() != '*') {
      return fail("unit-trailing", "expected the end after the unit", {at_, end_});
    }
    divides = peek() == '/';
    ++at_;
  }
  return false;
}

bool MeasureParser::read_factor(UnitScale& scale, bool divides) {
  const std::size_t begin = at_;
  at_ = std::min(end_, text_.find_first_of(" \t/*^", at_));
  const Range range{begin, at_};
  std::string symbol(text_.substr(begin, at_ - begin));
  // Both the micro sign and the Greek letter stand for "u".
  for (const std::string_view micro : {"\u00B5", "\u03BC"}) {
    if (symbol.starts_with(micro)) {
      symbol.replace(0, micro.size(), "u");
    }
  }
  const std::optional<UnitScale> unit = find_unit(symbol);
  if (!unit) {
    return unknown_unit(range);
  }
  const std::optional<int> power = read_power();
  if (!power) {
    return fail("unit-power", "expected a whole number from 1 to 9 as a power", {begin, end_});
  }
  for (int i = 0; i < *power; ++i) {
    scale.dimension =
        divides ? scale.dimension - unit->dimension : scale.dimension + unit->dimension;
    scale.exponent10 += divides ? -unit->exponent10 : unit->exponent10;
    scale.factor = divides ? scale.factor / unit->factor : scale.factor * unit->factor;
  }
  return true;
}

std::optional<int> MeasureParser::read_power() {
  if (peek() != '^') {
    return 1;
  }
  const std::size_t begin = ++at_;
  int power = 0;
  if (skip_digits() != 1) {
    return std::nullopt;
  }
  std::from_chars(text_.data() + begin, text_.data() + at_, power);
  return power >= 1 && power <= kLargestPower ? std::optional(power) : std::nullopt;
}

bool MeasureParser::unknown_unit(Range range) {
  const std::string_view symbol = text_.substr(range.begin, range.end - range.begin);
  if (symbol.empty()) {
    return fail("unit-unknown", "expected a unit",
                {range.begin, std::max(range.end, range.begin + 1)});
  }
  std::string label = unit_hint(symbol);
  if (label.empty()) {
    if (const std::optional<std::string> meant = did_you_mean(symbol, unit_symbols())) {
      label = fmt::format("did you mean {}?", *meant);
    }
  }
  return fail("unit-unknown", fmt::format("unknown unit '{}'", symbol), range, label);
}

/// Decimal text is rounded once: the powers of ten of prefixes join those of the number before it
/// becomes a double. Units that are no power of ten (h, bit, Ki) are multiplied in long double.
bool MeasureParser::compute(Parsed& parsed) {
  const std::string decimal =
      fmt::format("{}e{}", mantissa_, exponent10_ + parsed.scale.exponent10);
  const char* begin = decimal.data();
  const char* end = begin + decimal.size();
  std::errc error{};
  if (parsed.scale.factor == 1) {
    error = std::from_chars(begin, end, parsed.value).ec;
  } else {
    long double value = 0;
    error = std::from_chars(begin, end, value).ec;
    parsed.value = static_cast<double>(value * parsed.scale.factor);
  }
  if (error != std::errc{} || !std::isfinite(parsed.value)) {
    return fail("unit-number", "this number is out of range", parsed.number);
  }
  return true;
}

/// An amount was given where a rate of it belongs: "989.4 TFLOP" for TFLOP/s.
bool lacks_time(const Dimension& found, const Dimension& expected) {
  return found != kNumber && expected != kNumber && expected == found - kSecond;
}

std::string mismatch(const Dimension& found, const Dimension& expected) {
  return fmt::format("expected {}, found {}",
                     lacks_time(found, expected) ? "a rate" : describe(expected), describe(found));
}

/// What to write instead of a unit of the wrong dimension.
std::string advice(std::string_view unit, const Dimension& found, const Dimension& expected) {
  if (lacks_time(found, expected)) {
    return fmt::format("write {}/s", unit);
  }
  const UnitStyle* style = find_style(expected);
  const std::string example = style == nullptr ? unit_of(expected) : std::string(style->example);
  return example.empty() ? "write a number without a unit"
                         : fmt::format("write a unit such as {}", example);
}

}  // namespace

Result<double> parse_measure(std::string_view text, const Dimension& expected,
                             const Location& location) {
  const Result<MeasureParser::Parsed> parsed = MeasureParser(text, location).parse();
  if (!parsed) {
    return failure(parsed.error());
  }
  const Dimension& found = parsed->scale.dimension;
  if (found == expected) {
    return parsed->value;
  }
  const std::string_view unit =
      text.substr(parsed->unit.begin, parsed->unit.end - parsed->unit.begin);
  if (unit.empty()) {
    return failure("unit-missing",
                   fmt::format("expected {}, found a number without a unit", describe(expected)),
                   within(location, text, parsed->number), advice(unit, found, expected));
  }
  return failure("unit-dimension", mismatch(found, expected), within(location, text, parsed->unit),
                 advice(unit, found, expected));
}

Result<Measure> parse_measure(std::string_view text, const Location& location) {
  const Result<MeasureParser::Parsed> parsed = MeasureParser(text, location).parse();
  if (!parsed) {
    return failure(parsed.error());
  }
  return Measure{.value = parsed->value, .dimension = parsed->scale.dimension};
}

double Adjustment::apply(double old) const {
  switch (kind) {
    case Kind::kReplace:
      return value;
    case Kind::kScale:
      return old * value;
    case Kind::kAdd:
      return old + value;
  }
  return value;
}

Result<Adjustment> parse_adjustment(std::string_view text, const Dimension& expected,
                                    const Location& location) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  const char sign = first < text.size() ? text[first] : '\0';
  if (sign == '*') {
    const std::string_view factor = text.substr(first + 1);
    const Location place = within(location, text, {first + 1, text.size()});
    return parse_measure(factor, kNumber, place).map([](double value) {
      return Adjustment{.kind = Adjustment::Kind::kScale, .value = value};
    });
  }
  const auto kind =
      sign == '+' || sign == '-' ? Adjustment::Kind::kAdd : Adjustment::Kind::kReplace;
  return parse_measure(text, expected, location).map([kind](double value) {
    return Adjustment{.kind = kind, .value = value};
  });
}

}  // namespace mansard
