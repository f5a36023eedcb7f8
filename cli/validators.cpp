#include "cli/validators.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/suggest.hpp"

namespace mansard::cli {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

template <typename T>
std::optional<T> parsed(const std::string& text) {
  T value{};
  return CLI::detail::lexical_cast(text, value) ? std::optional(value) : std::nullopt;
}

/// A validator without a name in `--help`.
template <typename Holds>
CLI::Validator number(std::string expected, Holds holds) {
  return {[expected = std::move(expected), holds](std::string& text) {
            return holds(text) ? std::string()
                               : fmt::format("expected {}, found '{}'", expected, text);
          },
          ""};
}

}  // namespace

CLI::Validator at_least(std::int64_t least) {
  return number(fmt::format("a whole number from {}", least), [least](const std::string& text) {
    const auto value = parsed<std::int64_t>(text);
    return value && *value >= least && *value <= kMost;
  });
}

CLI::Validator fraction() {
  return number("a number from 0 to 1", [](const std::string& text) {
    const auto value = parsed<double>(text);
    return value && *value >= 0 && *value <= 1;
  });
}

CLI::Validator not_negative() {
  return number("a number from 0", [](const std::string& text) {
    const auto value = parsed<double>(text);
    return value && *value >= 0 && std::isfinite(*value);
  });
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string listed = fmt::format("{{{}}}", fmt::join(words, ","));
  return {[words = std::move(words)](std::string& text) {
            if (std::ranges::find(words, text) != words.end()) {
              return std::string();
            }
            const auto meant = did_you_mean(text, words);
            return fmt::format("expected {}, found '{}'{}", fmt::join(words, ", "), text,
                               meant ? fmt::format(", did you mean '{}'?", *meant) : "");
          },
          listed};
}

}  // namespace mansard::cli
