#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "cli/views/plot/svg.hpp"

namespace mansard::cli {

/// A logarithmic axis: values from `low` to `high` over pixels from `from` to `to`.
struct LogScale {
  double low = 1;
  double high = 10;
  double from = 0;
  double to = 1;

  [[nodiscard]] double operator()(double value) const {
    return from + (to - from) * std::log10(value / low) / std::log10(high / low);
  }
  [[nodiscard]] double pixels_per_decade() const { return (to - from) / std::log10(high / low); }
};

/// A linear axis from 0 to `high`, whose ticks are multiples of a round step.
struct LinearScale {
  double high = 1;
  double step = 1;
  double from = 0;
  double to = 1;

  [[nodiscard]] double operator()(double value) const { return from + (to - from) * value / high; }
};

/// 0 to at least `most`, in at most `ticks` steps of 1, 2, 2.5 or 5 times a power of ten.
[[nodiscard]] LinearScale linear_scale(double most, int ticks, double from, double to);
/// The multiples of the step from 0 to `high`.
[[nodiscard]] std::vector<double> ticks_of(const LinearScale& scale);

/// The powers of ten within a scale.
[[nodiscard]] std::vector<double> decades(const LogScale& scale);
/// A power of ten for the labels of an axis: "0.1", "100", "10 G".
[[nodiscard]] std::string decade_text(double value);

}  // namespace mansard::cli
