#include "cli/views/numbers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "support/units.hpp"

namespace mansard::cli {
namespace {

constexpr int kDigits = 3;
constexpr double kMicro = 1e6;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The number that `text` begins with, with zeros to three significant digits: "4.8 TB/s" to "4.80
/// TB/s".
std::string with_zeros(const std::string& text) {
  const std::size_t end = std::min(text.find_first_not_of("-0123456789."), text.size());
  std::string number = text.substr(0, end);
  const std::size_t first = number.find_first_of("123456789");
  if (first == std::string::npos) {
    return text;
  }
  auto digits =
      std::count_if(number.begin() + static_cast<std::ptrdiff_t>(first), number.end(), is_digit);
  if (digits < kDigits && number.find('.') == std::string::npos) {
    number += '.';
  }
  for (; digits < kDigits; ++digits) {
    number += '0';
  }
  return number + text.substr(end);
}

}  // namespace

std::string measure(double base_units, const Dimension& dimension) {
  return with_zeros(format_measure(base_units, dimension, kDigits));
}

std::string seconds(double value) {
  return measure(value, kSecond);
}

std::string bytes(double value) {
  return value == 0 ? "-" : measure(value, kByte);
}

std::string flops(double value) {
  if (value == 0) {
    return "-";
  }
  std::string text = measure(value, kFlop);
  constexpr std::string_view kUnit = "FLOP";
  text.erase(text.size() - kUnit.size());
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string ratio(double value) {
  constexpr int kLongest = 6;
  const std::string scientific = fmt::format("{:.{}e}", value, kDigits - 1);
  const std::size_t e = scientific.find('e');
  if (value == 0 || e == std::string::npos) {
    return fmt::format("{}", value);
  }
  const int exponent = std::stoi(scientific.substr(e + 1));
  return std::abs(exponent) > kLongest
             ? scientific
             : fmt::format("{:.{}f}", value, std::max(0, kDigits - 1 - exponent));
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", 100 * fraction);
}

std::string grouped(double value) {
  const std::string digits = fmt::format("{:.0f}", std::abs(value));
  std::string text = value < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    text += i > 0 && (digits.size() - i) % 3 == 0 ? "," : "";
    text += digits[i];
  }
  return text;
}

std::string microseconds(double value) {
  constexpr double kThreeDecimals = 0.1;
  const double micro = value * kMicro;
  return micro < kThreeDecimals ? fmt::format("{:.3f}", micro) : ratio(micro);
}

std::string abbreviated(std::string_view name, std::size_t columns) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kShorter{{
      {"moe.moe.", "moe."},
      {"attention", "attn"},
      {"activation", "act"},
      {"projection", "proj"},
      {"embedding", "embed"},
      {"convolution", "conv"},
      {"output", "out"},
      {"sliding", "slid"},
      {"quantize", "quant"},
      {"shared", "shrd"},
  }};
  std::string text(name);
  for (const auto& [word, shorter] : kShorter) {
    const std::size_t at = text.find(word);
    if (text.size() > columns && at != std::string::npos) {
      text.replace(at, word.size(), shorter);
    }
  }
  if (text.size() <= columns) {
    return text;
  }
  constexpr std::string_view kLeftOut = "..";
  const std::size_t kept = columns - kLeftOut.size();
  const std::size_t tail = kept * 2 / 3;
  std::string head = text.substr(0, kept - tail);
  head.erase(head.find_last_not_of('.') + 1);
  text.erase(0, text.size() - tail);
  return head + std::string(kLeftOut) + text.substr(text.find_first_not_of('.'));
}

}  // namespace mansard::cli
