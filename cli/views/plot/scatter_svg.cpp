#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "cli/views/plot/scales.hpp"
#include "cli/views/plot/scatter.hpp"
#include "cli/views/plot/svg.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

constexpr double kPanelWidth = 400;
constexpr double kPanelHeight = 440;
constexpr double kHead = 44;
constexpr Box kPlot{.x = 64, .y = 48, .width = 320, .height = 320};
constexpr std::size_t kPanelsInRow = 3;
constexpr double kBand = 0.10;
/// Series beyond them share the last colour.
constexpr std::size_t kColours = 8;

constexpr std::string_view kStyle = R"(
text{font:12px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2328}
.page{fill:#ffffff}.plot{fill:#f6f8fa}.title{font-size:17px;font-weight:600}.name{font-weight:600;font-size:13px}
.soft{fill:#59636e}.small{font-size:10.5px;fill:#59636e}.grid{stroke:#d8dee4;stroke-width:1}
.band{fill:#1f2328;fill-opacity:.09}.identity{stroke:#1f2328;stroke-width:1.2}
.dot{fill-opacity:.55}.flagged{fill-opacity:0;stroke-width:.8;stroke-opacity:.6}
.c0{fill:#0969da;stroke:#0969da}.c1{fill:#d1242f;stroke:#d1242f}.c2{fill:#1a7f37;stroke:#1a7f37}.c3{fill:#8250df;stroke:#8250df}
.c4{fill:#bf8700;stroke:#bf8700}.c5{fill:#1b9e8f;stroke:#1b9e8f}.c6{fill:#bf3989;stroke:#bf3989}.c7{fill:#6e7781;stroke:#6e7781}
.dot{stroke:none}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}.page{fill:#0d1117}.plot{fill:#151b23}.soft,.small{fill:#9198a1}.grid{stroke:#262c36}
.band{fill:#f0f6fc;fill-opacity:.12}.identity{stroke:#f0f6fc}
.c0{fill:#4493f8;stroke:#4493f8}.c1{fill:#f85149;stroke:#f85149}.c2{fill:#3fb950;stroke:#3fb950}.c3{fill:#ab7df8;stroke:#ab7df8}
.c4{fill:#d29922;stroke:#d29922}.c5{fill:#2dd4bf;stroke:#2dd4bf}.c6{fill:#db61a2;stroke:#db61a2}.c7{fill:#9198a1;stroke:#9198a1}
.dot{stroke:none}}
)";

/// The same for both axes, so that the identity is the diagonal.
struct Axes {
  LogScale x;
  LogScale y;
};

Axes axes_of(const Scatter::Panel& panel) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const Scatter::Series& series : panel.series) {
    for (const Scatter::Dot& dot : series.dots) {
      low = std::min({low, dot.measured_s, dot.estimate_s});
      high = std::max({high, dot.measured_s, dot.estimate_s});
    }
  }
  constexpr double kRoom = 1.3;
  constexpr double kLeastSpan = 10;
  low /= kRoom;
  high = std::max(high * kRoom, low * kLeastSpan);
  return {.x = {low, high, kPlot.x, kPlot.right()}, .y = {low, high, kPlot.bottom(), kPlot.y}};
}

void draw_grid(Svg& svg, const Axes& axes) {
  svg.rect(kPlot, "plot");
  for (const double value : decades(axes.x)) {
    const std::string label = format_measure(value, kSecond);
    svg.line({axes.x(value), kPlot.y}, {axes.x(value), kPlot.bottom()}, "grid");
    svg.line({kPlot.x, axes.y(value)}, {kPlot.right(), axes.y(value)}, "grid");
    svg.text({axes.x(value), kPlot.bottom() + 14}, label, "small", Svg::Anchor::kMiddle);
    svg.text({kPlot.x - 5, axes.y(value) + 4}, label, "small", Svg::Anchor::kEnd);
  }
  svg.text({kPlot.center().x, kPlot.bottom() + 29}, "measured", "soft", Svg::Anchor::kMiddle);
  svg.turned_text({14, kPlot.center().y}, -90, "estimate", "soft");
}

/// Between estimate = (1 - kBand) x measured and (1 + kBand) x measured, within the plot.
void draw_identity(Svg& svg, const Axes& axes) {
  const double low = axes.x.low;
  const double high = axes.x.high;
  const double above = 1 + kBand;
  const double below = 1 - kBand;
  const auto at = [&](double measured, double estimate) {
    return Point{axes.x(measured), axes.y(estimate)};
  };
  const std::array corners{at(low, low),   at(low, low * above),   at(high / above, high),
                           at(high, high), at(high, high * below), at(low / below, low)};
  svg.polygon(corners, "band");
  svg.line(at(low, low), at(high, high), "identity");
}

std::string colour(std::size_t series) {
  return fmt::format("c{}", std::min(series, kColours - 1));
}

void draw_dots(Svg& svg, const Axes& axes, const Scatter::Panel& panel) {
  constexpr double kRadius = 2.2;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    for (const Scatter::Dot& dot : panel.series[i].dots) {
      svg.circle({axes.x(dot.measured_s), axes.y(dot.estimate_s)}, kRadius,
                 colour(i) + (dot.flagged ? " flagged" : " dot"), dot.title);
    }
  }
}

/// The names of the series, in the corner above the diagonal.
void draw_legend(Svg& svg, const Scatter::Panel& panel) {
  constexpr double kLine = 13;
  for (std::size_t i = 0; i < std::min(panel.series.size(), kColours); ++i) {
    const double y = kPlot.y + 14 + kLine * static_cast<double>(i);
    const bool more = i + 1 == kColours && panel.series.size() > kColours;
    svg.circle({kPlot.x + 10, y - 4}, 3, colour(i) + " dot");
    svg.text({kPlot.x + 18, y}, more ? "others" : panel.series[i].name, "small");
  }
}

void draw_panel(Svg& svg, const Scatter::Panel& panel) {
  const Axes axes = axes_of(panel);
  svg.text({kPlot.x, 20}, panel.name, "name");
  svg.text({kPlot.x, 37}, panel.summary, "small");
  draw_grid(svg, axes);
  draw_identity(svg, axes);
  draw_dots(svg, axes, panel);
  draw_legend(svg, panel);
}

}  // namespace

std::string scatter_svg(const Scatter& scatter) {
  const std::size_t columns = std::clamp<std::size_t>(scatter.panels.size(), 1, kPanelsInRow);
  const std::size_t rows = (scatter.panels.size() + columns - 1) / columns;
  const double width = kPanelWidth * static_cast<double>(columns);
  constexpr double kFoot = 28;
  const double height = kHead + kPanelHeight * static_cast<double>(rows) + kFoot;
  Svg svg(width, height, scatter.heading);
  svg.style(kStyle);
  svg.rect({0, 0, width, height}, "page");
  svg.text({20, 28}, scatter.heading, "title");
  for (std::size_t i = 0; i < scatter.panels.size(); ++i) {
    svg.open_group({kPanelWidth * static_cast<double>(i % columns),
                    kHead + kPanelHeight * static_cast<double>(i / columns)});
    draw_panel(svg, scatter.panels[i]);
    svg.close_group();
  }
  svg.text({20, height - 10},
           "line: estimate = measurement; band: 10 % around it; hollow: flagged rows", "small");
  return svg.finish();
}

}  // namespace mansard::cli
