#pragma once

#include <string>
#include <vector>

/// Time over the roofline plane, on logarithmic axes.
namespace mansard::cli {

struct HeatMap {
  struct Point {
    double intensity = 0;  ///< FLOP per byte, or warp instructions per sector.
    double rate = 0;       ///< FLOP or warp instructions per second.
    double seconds = 0;
  };
  struct Line {
    std::string label;
    double value = 0;  ///< Of a rate, as above; bytes or sectors per second of a bandwidth.
  };
  std::string title;
  std::string x = "FLOP per byte of device memory";
  std::string y = "FLOP/s";
  std::vector<Point> points;
  std::vector<Line> rates;
  std::vector<Line> bandwidths;
};

/// Cells of a fifth of a decade, darker with the time of the kernels in them, below the ceilings.
[[nodiscard]] std::string heat_map_svg(const HeatMap& map);

}  // namespace mansard::cli
