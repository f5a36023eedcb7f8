#include "cli/views/plot/panels.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "cli/views/plot/scales.hpp"

namespace mansard::cli {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 150;  ///< Of a panel's axes,
constexpr double kPitch = 205;   ///< and from one panel to the next.
constexpr double kLeft = 70;
constexpr double kRight = 710;
constexpr double kTop = 50;
constexpr double kTwoDecades = 100;
constexpr std::array kColours{"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                              "#8c564b", "#e377c2", "#17becf", "#bcbd22"};

/// Classes `cN` of lines and `dN` of dots, one a colour.
std::string style() {
  std::string css =
      ".t{font:13px sans-serif;fill:#222}.l{font:11px sans-serif;fill:#444}"
      ".axis{stroke:#888;stroke-width:1}.grid{stroke:#ddd;stroke-width:1}"
      ".c{fill:none;stroke-width:1.6}";
  for (std::size_t k = 0; k < kColours.size(); ++k) {
    css += fmt::format(".c{0}{{stroke:{1}}}.d{0}{{fill:{1}}}", k, kColours[k]);
  }
  return css;
}

struct Range {
  double least = std::numeric_limits<double>::infinity();  ///< Of what is not 0.
  double most = 0;
};

Range range_of(const Panel& panel, double Point::* coordinate) {
  Range range;
  for (const Curve& curve : panel.curves) {
    for (const Point& point : curve.points) {
      const double value = point.*coordinate;
      range.most = std::max(range.most, value);
      range.least = value > 0 ? std::min(range.least, value) : range.least;
    }
  }
  return range;
}

/// A vertical axis: where values are, and which are labelled.
struct Axis {
  std::function<double(double)> place;
  std::vector<double> ticks;
};

Axis vertical_axis(const Panel& panel, double top) {
  const Range range = range_of(panel, &Point::y);
  const double bottom = top + kHeight;
  if (panel.may_be_logarithmic && range.most > kTwoDecades * range.least) {
    const LogScale scale{range.least, range.most, bottom, top};
    return {[scale](double value) { return scale(std::max(value, scale.low)); }, decades(scale)};
  }
  const LinearScale scale = linear_scale(range.most, 4, bottom, top);
  return {scale, ticks_of(scale)};
}

class Plot {
 public:
  Plot(std::string_view title, std::string_view x_label, const std::vector<Panel>& panels)
      : svg_(kWidth, kTop + kPitch * static_cast<double>(panels.size()), title), x_label_(x_label) {
    svg_.style(style());
    svg_.text({kLeft, 22}, title, "t");
    double most = 0;
    for (const Panel& panel : panels) {
      most = std::max(most, range_of(panel, &Point::x).most);
    }
    x_ = linear_scale(most, 6, kLeft, kRight);
    double top = kTop;
    for (const Panel& panel : panels) {
      draw(panel, top);
      top += kPitch;
    }
  }

  std::string finish() { return svg_.finish(); }

 private:
  void draw(const Panel& panel, double top) {
    const Axis y = vertical_axis(panel, top);
    svg_.text({kLeft, top - 8}, panel.title, "l");
    for (const double value : y.ticks) {
      svg_.line({kLeft, y.place(value)}, {kRight, y.place(value)}, "grid");
      svg_.text({kLeft - 6, y.place(value) + 4}, fmt::format("{:g}{}", value, panel.unit), "l",
                Svg::Anchor::kEnd);
    }
    svg_.line({kLeft, top + kHeight}, {kRight, top + kHeight}, "axis");
    for (const double value : ticks_of(x_)) {
      svg_.text({x_(value), top + kHeight + 15}, fmt::format("{:g}", value), "l",
                Svg::Anchor::kMiddle);
    }
    svg_.text({kRight, top + kHeight + 30}, x_label_, "l", Svg::Anchor::kEnd);
    for (std::size_t k = 0; k < panel.curves.size(); ++k) {
      draw(panel.curves[k], y, panel.marks, k, top);
    }
  }

  void draw(const Curve& curve, const Axis& y, bool marks, std::size_t index, double top) {
    const std::string line = fmt::format("c c{}", index % kColours.size());
    const std::string dot = fmt::format("d{}", index % kColours.size());
    std::vector<Point> points;
    for (const Point& point : curve.points) {
      points.push_back({x_(point.x), y.place(point.y)});
    }
    svg_.polyline(points, line);
    for (const Point& point : points) {
      if (marks) {
        svg_.circle(point, 2.5, dot);
      }
    }
    const double at = top + 8 + 16 * static_cast<double>(index);
    svg_.line({kRight + 10, at}, {kRight + 28, at}, line);
    svg_.text({kRight + 33, at + 4}, curve.name, "l");
  }

  Svg svg_;
  std::string x_label_;
  LinearScale x_;
};

}  // namespace

std::string panels_svg(std::string_view title, std::string_view x_label,
                       const std::vector<Panel>& panels) {
  return Plot(title, x_label, panels).finish();
}

}  // namespace mansard::cli
