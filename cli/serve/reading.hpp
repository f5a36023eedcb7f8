#pragma once

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.hpp"
#include "support/units.hpp"

/// Texts of options turned into values, with every error kept.
namespace mansard::cli {

class Reading {
 public:
  /// A measure in SI base units; 0 after an error.
  double measure(const std::string& option, const std::string& text, const Dimension& dimension);
  /// A measure that may not be negative.
  double amount(const std::string& option, const std::string& text, const Dimension& dimension);
  void wrong(const std::string& option, const std::string& text, std::string_view expected);

  template <typename T>
  T take(Result<T> value) {
    if (!value) {
      add(std::move(value.error()));
      return T{};
    }
    return std::move(*value);
  }
  void add(Diagnostics more) {
    errors.insert(errors.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  }

  Diagnostics errors;
};

/// A finite number and nothing else.
[[nodiscard]] std::optional<double> finite_number(std::string_view text);
/// A whole number from `least` to `most` and nothing else.
[[nodiscard]] std::optional<std::uint32_t> whole_number(std::string_view text, std::uint32_t least,
                                                        std::uint32_t most);
/// The parts of a text between separators.
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);

}  // namespace mansard::cli
