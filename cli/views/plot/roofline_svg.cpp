#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "cli/views/plot/label_placement.hpp"
#include "cli/views/plot/roofline.hpp"
#include "cli/views/plot/scales.hpp"
#include "cli/views/text_table.hpp"
#include "support/units.hpp"

namespace mansard::cli {
namespace {

constexpr double kPanelWidth = 900;
constexpr double kPanelHeight = 655;
constexpr Box kPlot{.x = 78, .y = 84, .width = 800, .height = 440};
constexpr double kFont = 12;
constexpr double kLineHeight = 15;
constexpr std::size_t kPanelsInRow = 2;
/// Smaller ops have a circle but no label.
constexpr double kLeastLabelled = 0.01;
constexpr std::size_t kMostLabels = 24;

constexpr std::string_view kStyle = R"(
text{font:12px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2328}
.page{fill:#ffffff}.plot{fill:#f6f8fa}
.title{font-size:17px;font-weight:600}.soft{fill:#59636e}.small{font-size:11px;fill:#59636e}
.grid{stroke:#d8dee4;stroke-width:1}.axis{stroke:#818b98;stroke-width:1}
.roof{stroke:#1f2328;stroke-width:1.8}.unused{stroke:#9aa4af;stroke-width:1;stroke-dasharray:5 4}
.drop{stroke:#818b98;stroke-width:1;stroke-dasharray:2 3}.ridge{fill:#1f2328}
.leader{stroke:#59636e;stroke-width:.8}
.main{fill:#0969da}.cache{fill:#1b9e8f}.matrix{fill:#d1242f}.vector{fill:#bf8700}.link{fill:#8250df}.other{fill:#6e7781}
.main{stroke:#0969da}.cache{stroke:#1b9e8f}.matrix{stroke:#d1242f}.vector{stroke:#bf8700}.link{stroke:#8250df}.other{stroke:#6e7781}
.op{fill-opacity:.3;stroke-width:1.2}.label{paint-order:stroke;stroke:#f6f8fa;stroke-width:3px;stroke-linejoin:round}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}.page{fill:#0d1117}.plot{fill:#151b23}.soft,.small{fill:#9198a1}
.grid{stroke:#262c36}.axis{stroke:#656c76}.roof{stroke:#f0f6fc}.unused{stroke:#656c76}.drop{stroke:#656c76}
.ridge{fill:#f0f6fc}.leader{stroke:#9198a1}
.main{fill:#4493f8}.cache{fill:#2dd4bf}.matrix{fill:#f85149}.vector{fill:#d29922}.link{fill:#ab7df8}.other{fill:#9198a1}
.main{stroke:#4493f8}.cache{stroke:#2dd4bf}.matrix{stroke:#f85149}.vector{stroke:#d29922}.link{stroke:#ab7df8}.other{stroke:#9198a1}
.label{stroke:#151b23}}
)";

std::string_view class_name(ResourceClass resource) {
  switch (resource) {
    case ResourceClass::kMain:
      return "main";
    case ResourceClass::kCache:
      return "cache";
    case ResourceClass::kMatrix:
      return "matrix";
    case ResourceClass::kVector:
      return "vector";
    case ResourceClass::kLink:
      return "link";
    case ResourceClass::kOther:
      break;
  }
  return "other";
}

/// What the axes must hold, over all panels.
struct Extent {
  double least_intensity = std::numeric_limits<double>::infinity();
  double most_intensity = 0;
  double least_rate = std::numeric_limits<double>::infinity();
  double most_rate = 0;

  void add(double intensity, double rate) {
    least_intensity = std::min(least_intensity, intensity);
    most_intensity = std::max(most_intensity, intensity);
    least_rate = std::min(least_rate, rate);
    most_rate = std::max(most_rate, rate);
  }
};

Extent extent(std::span<const Roofline> panels) {
  Extent result;
  for (const Roofline& panel : panels) {
    for (const Roofline::Ceiling& ceiling : panel.ceilings) {
      result.add(ceiling.flops_per_s / panel.slopes.front().bytes_per_s, ceiling.flops_per_s);
    }
    for (const Roofline::Dot& dot : panel.dots) {
      result.add(dot.intensity, dot.flops_per_s);
    }
  }
  return result;
}

/// Room for circles and labels around what is shown; at most nine decades of rate.
struct Axes {
  LogScale x;
  LogScale y;
};

Axes axes(const Extent& extent) {
  constexpr double kMostDecades = 1e9;
  const double top = extent.most_rate * 2.2;
  return {.x = {extent.least_intensity / 3, extent.most_intensity * 6, kPlot.x, kPlot.right()},
          .y = {std::max(extent.least_rate / 4, top / kMostDecades), top, kPlot.bottom(), kPlot.y}};
}

double radius(const Roofline::Dot& dot) {
  constexpr double kWhole = 46;  ///< Of an op that takes all the time.
  return std::max(2.5, kWhole * std::sqrt(dot.share));
}

constexpr std::string_view kNotes =
    "circle: an op, at its FLOP per byte moved and its FLOP/s as estimated (elementwise FLOP if it "
    "has no "
    "contractions); area: share of the step's time (no label below 1 %); colour: the resource that "
    "bounds "
    "it; lines: dense rates (dashed: not used by this step) and bandwidths of the machine; dots on "
    "lines: "
    "ridge points, their FLOP/B at the axis";
constexpr std::size_t kNoteColumns = 144;

/// Draws one machine.
class Panel {
 public:
  Panel(Svg& svg, const Roofline& roofline, const Axes& axes)
      : svg_(svg), data_(roofline), x_(axes.x), y_(axes.y) {}

  void draw() {
    svg_.text({kPlot.x, 28}, fmt::format("{} on {}", data_.heading, data_.machine), "title");
    draw_legend();
    svg_.rect(kPlot, "plot");
    draw_grid();
    draw_slopes();
    draw_ceilings();
    draw_ridges();
    draw_dots();
    draw_labels();
    draw_notes();
  }

 private:
  [[nodiscard]] double most_rate() const { return data_.ceilings.back().flops_per_s; }
  [[nodiscard]] double steepest() const {
    double bandwidth = 0;
    for (const Roofline::Slope& slope : data_.slopes) {
      bandwidth = std::max(bandwidth, slope.bytes_per_s);
    }
    return bandwidth;
  }

  void draw_legend() {
    svg_.text({kPlot.right(), 56}, data_.summary, "soft", Svg::Anchor::kEnd);
    double x = kPlot.x + 6;
    std::vector<std::string> shown;
    for (const Roofline::Dot& dot : data_.dots) {
      if (std::ranges::find(shown, dot.binding) != shown.end()) {
        continue;
      }
      shown.push_back(dot.binding);
      svg_.circle({x, 52}, 5.5, class_name(dot.resource));
      const std::string text = fmt::format("bound by {}", dot.binding);
      svg_.text({x + 12, 56}, text, "");
      x += 34 + svg_text_width(text, kFont);
    }
  }

  void draw_grid() {
    for (const double value : decades(x_)) {
      svg_.line({x_(value), kPlot.y}, {x_(value), kPlot.bottom()}, "grid");
      svg_.text({x_(value), kPlot.bottom() + 18}, decade_text(value), "soft", Svg::Anchor::kMiddle);
    }
    for (const double value : decades(y_)) {
      svg_.line({kPlot.x, y_(value)}, {kPlot.right(), y_(value)}, "grid");
      svg_.text({kPlot.x - 8, y_(value) + 4}, decade_text(value), "soft", Svg::Anchor::kEnd);
    }
    svg_.line({kPlot.x, kPlot.bottom()}, {kPlot.right(), kPlot.bottom()}, "axis");
    svg_.line({kPlot.x, kPlot.y}, {kPlot.x, kPlot.bottom()}, "axis");
    svg_.text({kPlot.right(), kPlot.bottom() + 36}, "intensity, FLOP per byte moved", "soft",
              Svg::Anchor::kEnd);
    svg_.text({kPlot.x, kPlot.y - 8}, "FLOP/s", "soft", Svg::Anchor::kEnd);
  }

  void draw_slopes() {
    for (const Roofline::Slope& slope : data_.slopes) {
      const double begin = std::max(x_.low, y_.low / slope.bytes_per_s);
      const double end = most_rate() / slope.bytes_per_s;
      const Point from{x_(begin), y_(begin * slope.bytes_per_s)};
      const Point to{x_(end), y_(most_rate())};
      svg_.line(from, to, "roof");
      lines_.push_back({from, to});
      label_slope(slope, from);
    }
  }

  /// Along the line, near its lower end.
  void label_slope(const Roofline::Slope& slope, Point from) {
    const double rise = -y_.pixels_per_decade() / x_.pixels_per_decade();
    const double angle = std::atan(rise);
    const std::string text =
        fmt::format("{} {}", slope.label, format_measure(slope.bytes_per_s, kBytePerSecond));
    constexpr double kAlong = 26;
    const Point at{from.x + kAlong * std::cos(angle) - 6 * std::sin(angle) * -1,
                   from.y - kAlong * std::sin(angle) - 6 * std::cos(angle)};
    svg_.turned_text(at, -angle * 180 / std::numbers::pi, text, "label");
    const double length = svg_text_width(text, kFont);
    constexpr int kPieces = 8;
    for (int piece = 0; piece <= kPieces; ++piece) {  // small boxes along the turned text
      const double along = length * piece / kPieces;
      taken_.push_back(
          {at.x + along * std::cos(angle) - 7, at.y - along * std::sin(angle) - 12, 14, 16});
    }
  }

  void draw_ceilings() {
    for (auto ceiling = data_.ceilings.rbegin(); ceiling != data_.ceilings.rend(); ++ceiling) {
      const double y = y_(ceiling->flops_per_s);
      const double begin = x_(ceiling->flops_per_s / steepest());
      const Segment line{{begin, y}, {kPlot.right(), y}};
      svg_.line(line.from, line.to, ceiling->used ? "roof" : "unused");
      lines_.push_back(line);
      label_ceiling(*ceiling, y);
    }
  }

  /// Above the line at the right, or further left where another label stands.
  void label_ceiling(const Roofline::Ceiling& ceiling, double y) {
    const std::string text =
        fmt::format("{} {}", ceiling.label, format_measure(ceiling.flops_per_s, kFlopPerSecond));
    const double width = svg_text_width(text, kFont);
    Box box{kPlot.right() - 4 - width, y - kLineHeight - 1, width, kLineHeight};
    for (int tries = 0; tries < 3; ++tries) {
      for (const Box& other : taken_) {
        const bool apart = box.right() < other.x || other.right() < box.x ||
                           box.bottom() <= other.y || other.bottom() <= box.y;
        if (!apart) {
          box.x = other.x - width - 12;
        }
      }
    }
    taken_.push_back(box);
    svg_.text({box.right(), y - 4}, text, ceiling.used ? "label" : "label soft", Svg::Anchor::kEnd);
  }

  /// Where the device memory's line meets the ceilings in use.
  void draw_ridges() {
    const Roofline::Slope& main = data_.slopes.front();
    double last = -1e9;
    for (const Roofline::Ceiling& ceiling : data_.ceilings) {
      const double ridge = ceiling.flops_per_s / main.bytes_per_s;
      const Point at{x_(ridge), y_(ceiling.flops_per_s)};
      svg_.circle(
          at, ceiling.used ? 4 : 2.5, "ridge",
          fmt::format("ridge of {} and {}: {} FLOP/B", ceiling.label, main.label, ratio(ridge)));
      if (!ceiling.used) {
        continue;
      }
      svg_.line(at, {at.x, kPlot.bottom()}, "drop");
      const std::string text = ratio(ridge);
      if (at.x - last > svg_text_width(text, kFont) + 8) {
        const Box box{at.x + 4, kPlot.bottom() - 18, svg_text_width(text, kFont), kLineHeight};
        svg_.text({box.x, kPlot.bottom() - 6}, text, "");
        taken_.push_back(box);
        last = at.x;
      }
    }
  }

  [[nodiscard]] Disc disc(const Roofline::Dot& dot) const {
    return {{x_(dot.intensity), y_(dot.flops_per_s)}, radius(dot)};
  }

  void draw_dots() {
    for (const Roofline::Dot& dot : data_.dots) {
      const Disc at = disc(dot);
      svg_.circle(at.center, at.radius, fmt::format("op {}", class_name(dot.resource)),
                  fmt::format("{}: {} of the time, {} FLOP/B, {}, bound by {}", dot.name,
                              percent(dot.share), ratio(dot.intensity),
                              format_measure(dot.flops_per_s, kFlopPerSecond), dot.binding));
    }
  }

  void draw_labels() {
    std::vector<Disc> discs;
    std::vector<LabelWish> wishes;
    std::vector<std::string> texts;
    for (const Roofline::Dot& dot : data_.dots) {
      discs.push_back(disc(dot));
      if (dot.share >= kLeastLabelled && texts.size() < kMostLabels) {
        texts.push_back(fmt::format("{} {}", abbreviated(dot.name, 26), percent(dot.share)));
        wishes.push_back({disc(dot), svg_text_width(texts.back(), kFont), kLineHeight});
      }
    }
    const auto labels = place_labels(wishes, {discs, taken_, lines_}, kPlot);
    for (const PlacedLabel& label : labels) {
      if (label.leader) {
        svg_.line(label.leader->from, label.leader->to, "leader");
      }
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const Box& box = labels[i].box;
      const bool left_of_disc = box.right() < wishes[i].disc.center.x;
      svg_.text({left_of_disc ? box.right() : box.x, box.bottom() - 4}, texts[i], "label",
                left_of_disc ? Svg::Anchor::kEnd : Svg::Anchor::kStart);
    }
  }

  void draw_notes() {
    std::string text(kNotes);
    std::string rest;
    for (const Roofline::LeftOut& op : data_.left_out) {
      if (op.share >= kLeastLabelled) {
        rest += fmt::format("{}{} {}", rest.empty() ? "" : ", ", op.name, percent(op.share));
      }
    }
    text += rest.empty() ? "" : fmt::format("; without FLOP, so not shown: {}", rest);
    double y = kPlot.bottom() + 60;
    for (const std::string& line : wrapped(text, kNoteColumns)) {
      svg_.text({kPlot.x, y}, line, "small");
      y += kLineHeight;
    }
  }

  Svg& svg_;
  const Roofline& data_;
  LogScale x_;
  LogScale y_;
  std::vector<Box> taken_;
  std::vector<Segment> lines_;
};

}  // namespace

std::string roofline_svg(std::span<const Roofline> panels) {
  const std::size_t columns = std::min(panels.size(), kPanelsInRow);
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  const double width = kPanelWidth * static_cast<double>(columns);
  const double height = kPanelHeight * static_cast<double>(rows);
  Svg svg(width, height, "hierarchical roofline: " + panels.front().heading);
  svg.style(kStyle);
  svg.rect({0, 0, width, height}, "page");
  const Axes shared = axes(extent(panels));
  for (std::size_t i = 0; i < panels.size(); ++i) {
    svg.open_group({kPanelWidth * static_cast<double>(i % columns),
                    kPanelHeight * static_cast<double>(i / columns)});
    Panel(svg, panels[i], shared).draw();
    svg.close_group();
  }
  return svg.finish();
}

}  // namespace mansard::cli
