#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"
#include "validate/compare.hpp"

namespace mansard::validate {

/// How far the mean error of some classes may go.
struct Tolerance {
  std::string text;  ///< As the user gave it.
  /// Each must be the class's op, dtype, implementation (with or without its version), mode or
  /// phase; none stands for every class.
  std::vector<std::string> words;
  double mape = 0;  ///< A fraction.

  [[nodiscard]] bool covers(const ClassReport& report) const;
};

/// "7" or "7%", "matmul=7", "attention/decode=10%". Errors: no number, a number below 0.
[[nodiscard]] Result<Tolerance> parse_tolerance(std::string_view text);

/// A class beyond what was stated for it.
struct Excess {
  const ClassReport* report = nullptr;
  const Tolerance* tolerance = nullptr;
};

/// Each class with rows is held to the tolerance with the most words that covers it, of equals the
/// last. Errors: tolerances that cover no class.
[[nodiscard]] Result<std::vector<Excess>> excesses(const Report& report,
                                                   const std::vector<Tolerance>& tolerances);

}  // namespace mansard::validate
