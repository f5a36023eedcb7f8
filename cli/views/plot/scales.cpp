#include "cli/views/plot/scales.hpp"

#include <fmt/format.h>

#include "support/units.hpp"

namespace mansard::cli {

LinearScale linear_scale(double most, int ticks, double from, double to) {
  constexpr double kTolerance = 1e-9;
  most = most > 0 ? most : 1;
  const double power = std::pow(10.0, std::floor(std::log10(most / ticks)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0}) {
    if (factor * power * ticks >= most * (1 - kTolerance)) {
      step = factor * power;
    }
  }
  return {step * std::ceil(most / step - kTolerance), step, from, to};
}

std::vector<double> ticks_of(const LinearScale& scale) {
  constexpr double kTolerance = 1e-9;
  std::vector<double> values;
  const auto count = static_cast<int>(scale.high / scale.step + kTolerance);
  for (int i = 0; i <= count; ++i) {
    values.push_back(scale.step * i);
  }
  return values;
}

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
