#pragma once

#include <string>
#include <vector>

#include "validate/compare.hpp"

/// Predicted against measured, one panel an op class.
namespace mansard::cli {

struct Scatter {
  struct Dot {
    double measured_s = 0;
    double estimate_s = 0;
    bool flagged = false;
    std::string title;
  };
  /// The dots of one dtype and implementation.
  struct Series {
    std::string name;
    std::vector<Dot> dots;
  };
  struct Panel {
    std::string name;     ///< "attention decode".
    std::string summary;  ///< "220 rows, mean 5.2 %, bias +1.1 %".
    std::vector<Series> series;
  };
  std::string heading;
  std::vector<Panel> panels;
};

/// Classes of one op and phase share a panel. Flagged rows are in it, and left out of its figures.
[[nodiscard]] Scatter scatter(const validate::Report& report);

/// Log-log, with the identity and a band of 10 % around it. Legible on light and dark backgrounds.
[[nodiscard]] std::string scatter_svg(const Scatter& scatter);

}  // namespace mansard::cli
