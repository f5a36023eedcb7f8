#include "validate/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace mansard::measure {

double quantile(std::span<const double> samples, double q) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

Summary summarize(std::span<const double> samples) {
  return {quantile(samples, 0.5), quantile(samples, 0), quantile(samples, 1),
          static_cast<int>(samples.size())};
}

double relative_error_of_median(std::span<const double> samples) {
  constexpr std::size_t kLeastSamples = 3;
  constexpr double kMedianOverMean = 1.2533;
  constexpr double kIqrOfNormal = 1.349;
  if (samples.size() < kLeastSamples) {
    return std::numeric_limits<double>::infinity();
  }
  const double iqr = quantile(samples, 0.75) - quantile(samples, 0.25);
  const double deviation = iqr / kIqrOfNormal / std::sqrt(static_cast<double>(samples.size()));
  return kMedianOverMean * deviation / quantile(samples, 0.5);
}

}  // namespace mansard::measure
