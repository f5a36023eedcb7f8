#include "traces/kineto/decimal.hpp"

#include <charconv>
#include <limits>

namespace mansard::traces {
namespace {

constexpr int kDecimals = 3;  ///< Of a unit that are kept.
/// More digits than any 64-bit number has; what lies beyond rounds.
constexpr int kMostDigits = 24;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// digits x 10^exponent, taken apart.
struct Decimal {
  bool negative = false;
  unsigned __int128 digits = 0;
  int exponent = 0;
};

/// The exponent behind an 'e', if what stands there is one.
std::optional<int> parse_exponent(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  constexpr int kMost = 1000;
  if (error != std::errc() || end != text.data() + text.size() || exponent > kMost ||
      exponent < -kMost) {
    return std::nullopt;
  }
  return exponent;
}

std::optional<Decimal> take_apart(std::string_view text) {
  Decimal result;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
    result.negative = text[at++] == '-';
  }
  int digits = 0;
  bool any = false;
  bool fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    any = true;
    if (digits == kMostDigits) {  // Too small to count behind the point, counted before it.
      result.exponent += fraction ? 0 : 1;
      continue;
    }
    result.digits = result.digits * 10 + static_cast<unsigned>(text[at] - '0');
    digits += result.digits == 0 ? 0 : 1;
    result.exponent -= fraction ? 1 : 0;
  }
  if (any && at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const auto exponent = parse_exponent(text.substr(at + 1));
    if (!exponent) {
      return std::nullopt;
    }
    result.exponent += *exponent;
    at = text.size();
  }
  return any && at == text.size() ? std::optional(result) : std::nullopt;
}

std::optional<std::int64_t> scaled(const Decimal& decimal, int decimals) {
  unsigned __int128 value = decimal.digits;
  constexpr auto kMost = static_cast<unsigned __int128>(std::numeric_limits<std::int64_t>::max());
  int shift = decimal.exponent + decimals;
  for (; shift > 0 && value != 0; --shift) {
    if (value > kMost) {
      return std::nullopt;
    }
    value *= 10;
  }
  bool round_up = false;
  for (; shift < 0 && value != 0; ++shift) {
    round_up = value % 10 >= 5;
    value /= 10;
  }
  value += round_up && shift == 0 ? 1 : 0;
  if (value > kMost) {
    return std::nullopt;
  }
  const auto magnitude = static_cast<std::int64_t>(value);
  return decimal.negative ? -magnitude : magnitude;
}

/// What nearly every time stamp is: up to 15 digits, a point, up to three more.
std::optional<std::int64_t> parse_plain(std::string_view text) {
  std::int64_t value = 0;
  std::size_t at = 0;
  constexpr std::size_t kSafe = 15;
  while (at < text.size() && at < kSafe && is_digit(text[at])) {
    value = value * 10 + (text[at++] - '0');
  }
  if (at == 0) {
    return std::nullopt;
  }
  int missing = kDecimals;
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && missing > 0 && is_digit(text[at]); --missing) {
      value = value * 10 + (text[at++] - '0');
    }
    if (missing == kDecimals) {
      return std::nullopt;
    }
  }
  for (; missing > 0; --missing) {
    value *= 10;
  }
  return at == text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> parse_thousandths(std::string_view text) {
  if (const auto plain = parse_plain(text)) {
    return plain;
  }
  const auto decimal = take_apart(text);
  return decimal ? scaled(*decimal, kDecimals) : std::nullopt;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  constexpr int kHexadecimal = 16;
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hexadecimal ? text.substr(2) : text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                            hexadecimal ? kHexadecimal : 10);
  if (error == std::errc() && end == digits.data() + digits.size() && !digits.empty()) {
    return value;
  }
  const auto decimal = take_apart(text);
  return decimal ? scaled(*decimal, 0) : std::nullopt;
}

}  // namespace mansard::traces
