#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/views/plot/svg.hpp"

/// Curves in panels, one above another, over one horizontal axis.
namespace mansard::cli {

struct Curve {
  std::string name;
  std::vector<Point> points;  ///< In the units of the axes; not negative.
};

/// One pair of axes with curves.
struct Panel {
  std::string title;
  std::string unit;  ///< Of its vertical axis, behind each figure: " %".
  std::vector<Curve> curves;
  bool marks = false;  ///< A dot at each point.
  /// The vertical axis is logarithmic where the values span more than two decades.
  bool may_be_logarithmic = false;
};

[[nodiscard]] std::string panels_svg(std::string_view title, std::string_view x_label,
                                     const std::vector<Panel>& panels);

}  // namespace mansard::cli
