#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/views/plot/panels.hpp"
#include "cli/views/serving.hpp"

namespace mansard::cli {
namespace {

namespace serve = model::serve;

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

bool is_load(const std::string& option) {
  return option == "rate" || option == "scale-rate" || option == "users";
}

/// What the load of a sweep counts.
const char* load_name(const ServeAnswer& answer) {
  for (const auto& [option, value] : answer.varied) {
    if (is_load(option)) {
      return option == "rate" ? "requests a second"
                              : (option == "users" ? "users" : "times the trace's rate");
    }
  }
  return "requests a second";
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
  return panels_svg(
      fmt::format("{} on {}, {}", answer.model, answer.pools.front().machine, answer.source),
      "seconds", panels);
}

std::string rate_svg(std::span<const ServeAnswer> answers) {
  std::vector<Panel> panels{{"TTFT", " s", {}, true, true},
                            {"TPOT", " ms", {}, true, true},
                            {"output tokens a second", "", {}, true}};
  /// Points that differ in anything but the rate are curves of their own.
  const auto curve_name = [](const ServeAnswer& answer) {
    std::string name;
    for (const auto& [option, value] : answer.varied) {
      if (!is_load(option)) {
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
      rate = is_load(option) ? std::strtod(value.c_str(), nullptr) : rate;
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
  return panels_svg(fmt::format("{}: latency over load", answers.front().model),
                    load_name(answers.front()), panels);
}

}  // namespace mansard::cli
