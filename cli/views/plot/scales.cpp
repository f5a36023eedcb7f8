#include "cli/views/plot/scales.hpp"

#include <fmt/format.h>

#include "support/units.hpp"

namespace mansard::cli {

std::vector<double> decades(const LogScale& scale) {
  constexpr double kTolerance = 1e-9;
  std::vector<double> values;
  const auto first = static_cast<int>(std::ceil(std::log10(scale.low) - kTolerance));
  const auto last = static_cast<int>(std::floor(std::log10(scale.high) + kTolerance));
  for (int exponent = first; exponent <= last; ++exponent) {
    values.push_back(std::pow(10.0, exponent));
  }
  return values;
}

std::string decade_text(double value) {
  constexpr double kThousand = 1e3;
  if (value <= kThousand) {
    return fmt::format("{:.6g}", value);
  }
  std::string text = format_measure(value, kFlop);  // "10 GFLOP"
  return text.substr(0, text.find("FLOP"));
}

}  // namespace mansard::cli
