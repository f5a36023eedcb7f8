#pragma once

#include <string>
#include <vector>

/// Time over the roofline plane, on logarithmic axes.
namespace mansard::cli {

struct HeatMap {
  struct Point {
    double intensity = 0;  ///< FLOP per byte.
    double flops_per_s = 0;
    double seconds = 0;
  };
  struct Line {
    std::string label;
    double value = 0;  ///< FLOP per second of a rate; byte per second of a bandwidth.
  };
  std::string title;
  std::vector<Point> points;
  std::vector<Line> rates;
  std::vector<Line> bandwidths;
};

/// Cells of a fifth of a decade, darker with the time of the kernels in them, below the ceilings.
[[nodiscard]] std::string heat_map_svg(const HeatMap& map);

}  // namespace mansard::cli
