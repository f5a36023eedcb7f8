#include "cli/serve/reading.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "support/text.hpp"

namespace mansard::cli {

double Reading::measure(const std::string& option, const std::string& text,
                        const Dimension& dimension) {
  auto source = std::make_shared<SourceFile>(SourceFile{option, text});
  return take(parse_measure(text, dimension, {source, 0, text.size()}));
}

double Reading::amount(const std::string& option, const std::string& text,
                       const Dimension& dimension) {
  const double value = measure(option, text, dimension);
  if (!(value >= 0)) {
    wrong(option, text, "no less than 0");
  }
  return value;
}

void Reading::wrong(const std::string& option, const std::string& text, std::string_view expected) {
  errors.push_back(
      {.id = "option",
       .message = fmt::format("{}: expected {}, found '{}'", option, expected, printable(text))});
}

std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value)
             ? std::optional(value)
             : std::nullopt;
}

std::optional<std::uint32_t> whole_number(std::string_view text, std::uint32_t least,
                                          std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> result;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    result.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

}  // namespace mansard::cli
