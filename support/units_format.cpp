#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "support/unit_table.hpp"
#include "support/units.hpp"

namespace mansard {
namespace {

/// Significant digits that identify every double.
constexpr int kAllDigits = 17;
/// Numbers without a prefix are written in full up to this power of ten.
constexpr int kLargestWritten = 15;
constexpr int kSmallestWritten = -5;

/// A positive number as digits and the power of ten of the first.
struct Decimal {
  std::string digits;
  int exponent10 = 0;
};

/// From "4.80e+12".
Decimal decimal_from(const std::string& scientific) {
  const std::size_t e = scientific.find('e');
  Decimal decimal;
  decimal.digits = scientific.substr(0, e);
  std::erase(decimal.digits, '.');
  decimal.digits.erase(std::max<std::size_t>(1, decimal.digits.find_last_not_of('0') + 1));
  const char* exponent = scientific.data() + e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent, scientific.data() + scientific.size(), decimal.exponent10);
  return decimal;
}

/// The digits of magnitude * per_base. All digits of a double are the shortest that read back as
/// it.
Decimal digits_of(double magnitude, long double per_base, int digits) {
  if (digits < kAllDigits || per_base != 1) {
    return decimal_from(fmt::format("{:.{}e}", magnitude * per_base, digits - 1));
  }
  std::array<char, 64> buffer{};
  char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude,
                            std::chars_format::scientific)
                  .ptr;
  return decimal_from(std::string(buffer.data(), end));
}

/// The largest multiple of three below the exponent, within what the unit takes.
int prefix_exponent(PrefixRange prefixes, int exponent10) {
  const bool small = prefixes == PrefixRange::kSmall || prefixes == PrefixRange::kBoth;
  const bool large = prefixes == PrefixRange::kLarge || prefixes == PrefixRange::kBoth;
  const int third = exponent10 >= 0 ? exponent10 / 3 : (exponent10 - 2) / 3;
  return std::clamp(third * 3, small ? -12 : 0, large ? 18 : 0);
}

/// The digits with their point where `exponent10` puts it: "4.8", "141", "0.05", "1e+30".
std::string placed(const Decimal& decimal, int exponent10) {
  const std::string& digits = decimal.digits;
  if (exponent10 > kLargestWritten || exponent10 < kSmallestWritten) {
    const std::string fraction = digits.size() > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}e{:+03}", digits.substr(0, 1), fraction, exponent10);
  }
  if (exponent10 < 0) {
    const auto zeros = static_cast<std::size_t>(-exponent10) - 1;
    return "0." + std::string(zeros, '0') + digits;
  }
  const std::size_t whole = static_cast<std::size_t>(exponent10) + 1;
  if (digits.size() <= whole) {
    return digits + std::string(whole - digits.size(), '0');
  }
  return digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string join_unit(const std::string& number, std::string_view prefix, std::string_view unit) {
  const bool spaced = !unit.empty() && unit.front() != '/';
  return fmt::format("{}{}{}{}", number, spaced ? " " : "", prefix, unit);
}

std::string number_text(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  return value < 0 ? "-inf" : "inf";
}

struct BaseUnit {
  int Dimension::* exponent;
  std::string_view symbol;
};
constexpr std::array<BaseUnit, 7> kBaseUnits = {{
    {&Dimension::flop, "FLOP"},
    {&Dimension::instruction, "inst"},
    {&Dimension::byte, "B"},
    {&Dimension::joule, "J"},
    {&Dimension::usd, "USD"},
    {&Dimension::cycle, "clk"},
    {&Dimension::second, "s"},
}};

std::string power(std::string_view symbol, int exponent) {
  return exponent == 1 ? std::string(symbol) : fmt::format("{}^{}", symbol, exponent);
}

/// "FLOP*s/B^2", for a dimension that has no name.
std::string composed_unit(const Dimension& dimension) {
  std::string above;
  std::string below;
  for (const BaseUnit& base : kBaseUnits) {
    const int exponent = dimension.*base.exponent;
    if (exponent > 0) {
      above += (above.empty() ? "" : "*") + power(base.symbol, exponent);
    } else if (exponent < 0) {
      below += "/" + power(base.symbol, -exponent);
    }
  }
  return above + below;
}

}  // namespace

std::string format_measure(double base_units, const Dimension& dimension, int digits) {
  const UnitStyle* style = find_style(dimension);
  const std::string unit = style == nullptr ? composed_unit(dimension) : std::string(style->unit);
  if (!std::isfinite(base_units)) {
    return join_unit(number_text(base_units), "", unit);
  }
  if (base_units == 0) {
    return join_unit(std::signbit(base_units) ? "-0" : "0", "", unit);
  }
  const long double per_base = style == nullptr ? 1 : style->per_base;
  const PrefixRange prefixes = style == nullptr ? PrefixRange::kNone : style->prefixes;
  const Decimal decimal =
      digits_of(std::abs(base_units), per_base, std::clamp(digits, 1, kAllDigits));
  const int prefix = prefix_exponent(prefixes, decimal.exponent10);
  const std::string number = placed(decimal, decimal.exponent10 - prefix);
  return join_unit((base_units < 0 ? "-" : "") + number, decimal_prefix(prefix), unit);
}

std::string unit_of(const Dimension& dimension) {
  const UnitStyle* style = find_style(dimension);
  return style != nullptr && style->per_base == 1 ? std::string(style->unit)
                                                  : composed_unit(dimension);
}

std::string describe(const Dimension& dimension) {
  const UnitStyle* style = find_style(dimension);
  return style == nullptr ? fmt::format("a value in {}", composed_unit(dimension))
                          : std::string(style->description);
}

}  // namespace mansard
