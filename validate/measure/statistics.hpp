#pragma once

#include <span>

namespace mansard::measure {

/// Trials of one measurement, all in the unit of the samples.
struct Summary {
  double median = 0;
  double min = 0;
  double max = 0;
  int trials = 0;
};

/// Quantile q in [0, 1] with linear interpolation between the order statistics; needs at least one
/// sample.
[[nodiscard]] double quantile(std::span<const double> samples, double q);

[[nodiscard]] Summary summarize(std::span<const double> samples);

/// Standard error of the median over the median, from the interquartile range as of a normal
/// distribution (1.2533 x IQR / 1.349 / sqrt(n)); infinite below three samples.
[[nodiscard]] double relative_error_of_median(std::span<const double> samples);

}  // namespace mansard::measure
