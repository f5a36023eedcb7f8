#include "cli/views/plot/heat_map.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "cli/views/plot/scales.hpp"
#include "cli/views/plot/svg.hpp"

namespace mansard::cli {
namespace {

constexpr Box kPlot{70, 50, 640, 420};
constexpr double kPerDecade = 5;
/// Shades from the least to the most time, each ten times the one before.
constexpr int kShades = 5;

std::pair<double, double> decades_around(double least, double most) {
  return {std::pow(10, std::floor(std::log10(least))), std::pow(10, std::ceil(std::log10(most)))};
}

struct Axes {
  LogScale x;
  LogScale y;
};

Axes axes_of(const HeatMap& map) {
  double x_low = 0.1;
  double x_high = 1000;
  double y_low = 1e12;
  double y_high = 1e12;
  for (const HeatMap::Point& p : map.points) {
    x_low = std::min(x_low, p.intensity);
    x_high = std::max(x_high, p.intensity);
    y_low = std::min(y_low, p.rate);
    y_high = std::max(y_high, p.rate);
  }
  for (const HeatMap::Line& rate : map.rates) {
    y_high = std::max(y_high, rate.value);
  }
  const auto [x0, x1] = decades_around(x_low, x_high);
  const auto [y0, y1] = decades_around(y_low, y_high);
  return {{x0, x1, kPlot.x, kPlot.right()}, {y0, y1, kPlot.bottom(), kPlot.y}};
}

void draw_axes(Svg& svg, const HeatMap& map, const Axes& axes) {
  svg.rect(kPlot, "frame");
  for (const double x : decades(axes.x)) {
    svg.line({axes.x(x), kPlot.y}, {axes.x(x), kPlot.bottom()}, "grid");
    svg.text({axes.x(x), kPlot.bottom() + 18}, decade_text(x), "tick", Svg::Anchor::kMiddle);
  }
  for (const double y : decades(axes.y)) {
    svg.line({kPlot.x, axes.y(y)}, {kPlot.right(), axes.y(y)}, "grid");
    svg.text({kPlot.x - 8, axes.y(y) + 4}, decade_text(y), "tick", Svg::Anchor::kEnd);
  }
  svg.text({kPlot.center().x, kPlot.bottom() + 38}, map.x, "tick", Svg::Anchor::kMiddle);
  svg.turned_text({18, kPlot.center().y}, -90, map.y, "tick");
}

void draw_cells(Svg& svg, const HeatMap& map, const Axes& axes) {
  std::map<std::pair<int, int>, double> cells;
  double most = 0;
  for (const HeatMap::Point& p : map.points) {
    double& cell = cells[{static_cast<int>(std::floor(std::log10(p.intensity) * kPerDecade)),
                          static_cast<int>(std::floor(std::log10(p.rate) * kPerDecade))}];
    cell += p.seconds;
    most = std::max(most, cell);
  }
  for (const auto& [place, seconds] : cells) {
    const double x0 = axes.x(std::pow(10, place.first / kPerDecade));
    const double x1 = axes.x(std::pow(10, (place.first + 1) / kPerDecade));
    const double y0 = axes.y(std::pow(10, (place.second + 1) / kPerDecade));
    const double y1 = axes.y(std::pow(10, place.second / kPerDecade));
    const int shade =
        std::clamp(kShades + static_cast<int>(std::floor(std::log10(seconds / most))), 1, kShades);
    svg.rect({x0, y0, x1 - x0, y1 - y0}, fmt::format("heat{}", shade));
  }
}

/// Along the line from a to b, a little above it, where it is three quarters up.
void draw_slope_label(Svg& svg, const std::string& label, Point a, Point b) {
  constexpr double kPlace = 0.75;
  constexpr double kAbove = 5;
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  const double across = kAbove / length;
  const Point at{a.x + kPlace * (b.x - a.x) + across * (b.y - a.y),
                 a.y + kPlace * (b.y - a.y) - across * (b.x - a.x)};
  const double degrees = std::atan2(b.y - a.y, b.x - a.x) * 180 / std::numbers::pi;
  svg.turned_text(at, degrees, label, "label");
}

void draw_legend(Svg& svg) {
  constexpr double kCell = 14;
  const double y = kPlot.bottom() + 50;
  const double x = kPlot.right() - kShades * kCell;
  svg.text({x - 8, y + 11}, "time of a cell, a tenth each, down from the most", "tick",
           Svg::Anchor::kEnd);
  for (int shade = kShades; shade >= 1; --shade) {
    svg.rect({x + (kShades - shade) * kCell, y, kCell, kCell}, fmt::format("heat{}", shade));
  }
}

void draw_ceilings(Svg& svg, const HeatMap& map, const Axes& axes) {
  double top = 0;
  for (const HeatMap::Line& rate : map.rates) {
    top = std::max(top, rate.value);
    svg.line({kPlot.x, axes.y(rate.value)}, {kPlot.right(), axes.y(rate.value)}, "ceiling");
    svg.text({kPlot.right() - 6, axes.y(rate.value) - 4}, rate.label, "label", Svg::Anchor::kEnd);
  }
  for (const HeatMap::Line& slope : map.bandwidths) {
    const double x0 = std::max(axes.x.low, axes.y.low / slope.value);
    const double x1 = std::min(axes.x.high, top / slope.value);
    if (x1 > x0) {
      svg.line({axes.x(x0), axes.y(x0 * slope.value)}, {axes.x(x1), axes.y(x1 * slope.value)},
               "ceiling");
      draw_slope_label(svg, slope.label, {axes.x(x0), axes.y(x0 * slope.value)},
                       {axes.x(x1), axes.y(x1 * slope.value)});
    }
  }
}

}  // namespace

std::string heat_map_svg(const HeatMap& map) {
  Svg svg(740, 540, map.title);
  svg.style(
      ".frame{fill:none;stroke:#888}.grid{stroke:#8883}.tick,.label,.title{font:12px "
      "sans-serif;fill:#777}"
      ".title{font-size:15px}.ceiling{stroke:#555;stroke-width:1.5}"
      ".heat1{fill:#fdd49e}.heat2{fill:#fdbb84}.heat3{fill:#fc8d59}.heat4{fill:#e34a33}.heat5{fill:"
      "#b30000}");
  svg.text({kPlot.x, 28}, map.title, "title");
  const Axes axes = axes_of(map);
  draw_axes(svg, map, axes);
  draw_cells(svg, map, axes);
  draw_ceilings(svg, map, axes);
  draw_legend(svg);
  return svg.finish();
}

}  // namespace mansard::cli
