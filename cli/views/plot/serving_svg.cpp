#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "cli/views/plot/svg.hpp"
#include "cli/views/serving.hpp"

namespace mansard::cli {
namespace {

namespace serve = model::serve;

constexpr double kWidth = 860;
constexpr double kPanel = 150;
constexpr double kLeft = 70;
constexpr double kRight = 150;
constexpr double kTop = 40;
constexpr const char* kStyle =
    ".t{font:13px sans-serif;fill:#222}.l{font:11px sans-serif;fill:#444}"
    ".axis{stroke:#888;stroke-width:1}.grid{stroke:#ddd;stroke-width:1}"
    ".c0{stroke:#1f77b4;stroke-width:1.6}.c1{stroke:#d62728;stroke-width:1.6}"
    ".c2{stroke:#2ca02c;stroke-width:1.6}.c3{stroke:#9467bd;stroke-width:1.6}"
    ".c4{stroke:#8c564b;stroke-width:1.6}.c5{stroke:#e377c2;stroke-width:1.6}";

struct Curve {
  std::string name;
  std::vector<Point> points;  ///< In the units of the axes.
};

/// One pair of axes with curves.
struct Panel {
  std::string title;
  std::string y_unit;
  std::vector<Curve> curves;
};

/// A round number from `value` up: 1, 2 or 5 times a power of ten.
double round_up(double value) {
  if (value <= 0) {
    return 1;
  }
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= value * (1 - 1e-12)) {
      return step * power;
    }
  }
  return 10 * power;
}

class Plot {
 public:
  Plot(std::string_view title, std::string x_label, const std::vector<Panel>& panels)
      : svg_(kWidth, kTop + static_cast<double>(panels.size()) * (kPanel + 50) + 10, title),
        x_label_(std::move(x_label)) {
    svg_.style(kStyle);
    svg_.text({kLeft, 22}, title, "t");
    double most = 0;
    for (const Panel& panel : panels) {
      for (const Curve& curve : panel.curves) {
        for (const Point& point : curve.points) {
          most = std::max(most, point.x);
        }
      }
    }
    x_most_ = most > 0 ? most : 1;
    double top = kTop + 10;
    for (const Panel& panel : panels) {
      draw(panel, top);
      top += kPanel + 50;
    }
  }

  std::string finish() { return svg_.finish(); }

 private:
  [[nodiscard]] double x(double value) const {
    return kLeft + (kWidth - kLeft - kRight) * value / x_most_;
  }

  void draw(const Panel& panel, double top) {
    double most = 0;
    for (const Curve& curve : panel.curves) {
      for (const Point& point : curve.points) {
        most = std::max(most, point.y);
      }
    }
    most = round_up(most);
    const auto y = [&](double value) { return top + kPanel * (1 - value / most); };
    svg_.text({kLeft, top - 6}, panel.title, "l");
    for (int i = 0; i <= 4; ++i) {
      const double value = most * i / 4;
      svg_.line({kLeft, y(value)}, {kWidth - kRight, y(value)}, i == 0 ? "axis" : "grid");
      svg_.text({kLeft - 6, y(value) + 4}, ratio(value) + panel.y_unit, "l", Svg::Anchor::kEnd);
    }
    for (int i = 0; i <= 5; ++i) {
      svg_.text({x(x_most_ * i / 5), top + kPanel + 15}, ratio(x_most_ * i / 5), "l",
                Svg::Anchor::kMiddle);
    }
    svg_.text({kWidth - kRight, top + kPanel + 30}, x_label_, "l", Svg::Anchor::kEnd);
    for (std::size_t k = 0; k < panel.curves.size(); ++k) {
      const std::string css = fmt::format("c{}", k % 6);
      const Curve& curve = panel.curves[k];
      for (std::size_t i = 1; i < curve.points.size(); ++i) {
        svg_.line({x(curve.points[i - 1].x), y(curve.points[i - 1].y)},
                  {x(curve.points[i].x), y(curve.points[i].y)}, css);
      }
      const double at = top + 8 + 16 * static_cast<double>(k);
      svg_.line({kWidth - kRight + 10, at}, {kWidth - kRight + 28, at}, css);
      svg_.text({kWidth - kRight + 33, at + 4}, curve.name, "l");
    }
  }

  Svg svg_;
  std::string x_label_;
  double x_most_ = 1;
};

using Value = std::function<double(const serve::Timeline::Interval&)>;

Curve over_time(const serve::Timeline& timeline, std::string name, const Value& value) {
  Curve curve{.name = std::move(name)};
  double time = timeline.width() / 2;
  for (const serve::Timeline::Interval& interval : timeline.intervals()) {
    curve.points.push_back({time, value(interval)});
    time += timeline.width();
  }
  return curve;
}

double over(double a, double b) {
  return b > 0 ? a / b : 0;
}

}  // namespace

std::string timeline_svg(const ServeAnswer& answer) {
  const serve::ServiceReport& r = answer.report;
  const serve::Timeline& t = r.timeline;
  using Interval = serve::Timeline::Interval;
  std::vector<Panel> panels{
      {"requests, a replica",
       "",
       {over_time(t, "running", [](const Interval& i) { return over(i.running, i.seconds); }),
        over_time(t, "waiting", [](const Interval& i) { return over(i.waiting, i.seconds); })}},
      {"KV cache in use",
       " %",
       {over_time(t, "KV blocks",
                  [](const Interval& i) { return 100 * over(i.kv_used, i.seconds); })}},
      {"output tokens a second", "", {over_time(t, "output", [&](const Interval& i) {
         return i.output_tokens / t.width();
       })}}};
  Panel busy{"time by what binds", " %", {}};
  for (std::size_t k = 0; k < r.resources.size(); ++k) {
    Curve curve = over_time(t, r.resources[k], [k](const Interval& i) {
      return k < i.busy.size() ? 100 * over(i.busy[k], i.seconds) : 0;
    });
    if (std::ranges::any_of(curve.points, [](const Point& p) { return p.y >= 1; })) {
      busy.curves.push_back(std::move(curve));
    }
  }
  panels.push_back(std::move(busy));
  return Plot(
             fmt::format("{} on {}, {}", answer.model, answer.pools.front().machine, answer.source),
             "seconds", panels)
      .finish();
}

std::string rate_svg(std::span<const ServeAnswer> answers) {
  std::vector<Panel> panels{
      {"TTFT", " s", {}}, {"TPOT", " ms", {}}, {"output tokens a second", "", {}}};
  /// Points that differ in anything but the rate are curves of their own.
  const auto curve_name = [](const ServeAnswer& answer) {
    std::string name;
    for (const auto& [option, value] : answer.varied) {
      if (option != "rate" && option != "scale-rate" && option != "users") {
        name += (name.empty() ? "" : " ") + value;
      }
    }
    return name;
  };
  const auto add = [&](std::size_t panel, const std::string& name, Point point) {
    auto& curves = panels[panel].curves;
    auto found = std::ranges::find(curves, name, &Curve::name);
    if (found == curves.end()) {
      curves.push_back({name, {}});
      found = curves.end() - 1;
    }
    found->points.push_back(point);
  };
  for (const ServeAnswer& answer : answers) {
    const serve::ServiceReport& r = answer.report;
    double rate = over(static_cast<double>(r.completed), r.makespan);
    for (const auto& [option, value] : answer.varied) {
      rate = option == "rate" || option == "scale-rate" || option == "users"
                 ? std::strtod(value.c_str(), nullptr)
                 : rate;
    }
    const std::string name = curve_name(answer);
    const auto with = [&](const char* what) { return name.empty() ? what : name + " " + what; };
    add(0, with("p50"), {rate, r.ttft.quantile(0.5)});
    add(0, with("p90"), {rate, r.ttft.quantile(0.9)});
    add(1, with("p50"), {rate, 1e3 * r.tpot.quantile(0.5)});
    add(1, with("p90"), {rate, 1e3 * r.tpot.quantile(0.9)});
    add(2, name.empty() ? "output" : name, {rate, r.output_tokens_per_second()});
  }
  for (Panel& panel : panels) {
    for (Curve& curve : panel.curves) {
      std::ranges::sort(curve.points, {}, &Point::x);
    }
  }
  return Plot(fmt::format("{}: latency over rate", answers.front().model), "rate", panels).finish();
}

}  // namespace mansard::cli
