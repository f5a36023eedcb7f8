#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "support/document.hpp"

namespace mansard {
namespace {

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

/// from_chars takes a minus and no plus; a person writes either.
std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

struct NamedNumber {
  std::string_view name;
  double value;
};
constexpr std::array<NamedNumber, 6> kNamedNumbers = {{
    {"Infinity", kInfinity},
    {"-Infinity", -kInfinity},
    {"NaN", kNotANumber},
    {".inf", kInfinity},
    {"-.inf", -kInfinity},
    {".nan", kNotANumber},
}};

std::optional<double> named_number(std::string_view text) {
  const auto* named = std::ranges::find(kNamedNumbers, text, &NamedNumber::name);
  return named == kNamedNumbers.end() ? std::nullopt : std::optional(named->value);
}

/// Keeps from_chars from reading the words "inf" and "nan", which no format of ours has.
bool starts_like_number(std::string_view text) {
  const std::size_t digit = text.find_first_not_of("-+.");
  return digit != std::string_view::npos && text[digit] >= '0' && text[digit] <= '9';
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) {
      return &entry.value;
    }
  }
  return nullptr;
}

std::optional<std::int64_t> Node::as_integer() const {
  if (!is_scalar() || quoted) {
    return std::nullopt;
  }
  return parse_whole<std::int64_t>(without_plus(scalar));
}

std::optional<double> Node::as_number() const {
  if (!is_scalar() || quoted) {
    return std::nullopt;
  }
  if (!starts_like_number(scalar)) {
    return named_number(scalar);
  }
  return parse_whole<double>(without_plus(scalar));
}

std::optional<bool> Node::as_bool() const {
  if (!is_scalar() || quoted) {
    return std::nullopt;
  }
  if (scalar == "true" || scalar == "True" || scalar == "TRUE") {
    return true;
  }
  if (scalar == "false" || scalar == "False" || scalar == "FALSE") {
    return false;
  }
  return std::nullopt;
}

}  // namespace mansard
