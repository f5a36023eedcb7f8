#include <algorithm>

#include <fmt/format.h>

#include "cli/trace/roofline_report.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/plot/heat_map.hpp"
#include "cli/views/records.hpp"
#include "ir/kernel_name.hpp"
#include "support/text.hpp"

namespace mansard::cli {
namespace {

constexpr auto kLeft = TextTable::Align::kLeft;

std::string hundredths(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}

Cell share(double fraction) {
  return Cell::number(fraction, hundredths(fraction));
}
Cell time(double seconds) {
  return Cell::number(seconds, microseconds(seconds));
}
Cell intensity(const std::optional<double>& value) {
  return value ? Cell::number(*value, ratio(*value)) : Cell::none();
}
Cell count(std::int64_t value) {
  return Cell::number(static_cast<double>(value), std::to_string(value));
}

std::string side(bool compute, bool known) {
  return known ? (compute ? "compute" : "memory") : "";
}

Records kernel_records(const RooflineReport& report, std::size_t rows) {
  Records records;
  records.column({"kernel", ""});
  records.column({"name", "", kLeft});
  records.column({"short_name", "kernel", kLeft});
  records.column({"op", "op", kLeft});
  records.column({"seconds", "us"});
  records.column({"flops", "FLOP"});
  records.column({"bytes", "bytes"});
  records.column({"intensity", "FLOP/B"});
  records.column({"l2_intensity", "at L2"});
  records.column({"l1_intensity", "at L1"});
  records.column({"instruction_intensity", "inst/\nsector"});
  records.column({"ridge", ""});
  records.column({"instruction_ridge", ""});
  records.column({"side", "side", kLeft});
  records.column({"instruction_side", "", kLeft});
  records.column({"binding", "ceiling", kLeft});
  records.column({"attained", "of it\n%"});
  records.column({"bound", "bound by", kLeft});
  records.column({"headroom_s", "saves\nus"});
  records.column({"clock_locked", ""});
  for (std::size_t i = 0; i < std::min(rows, report.kernels.size()); ++i) {
    const model::KernelRoofline& k = report.kernels[i];
    const ir::KernelWork& w = *k.work;
    const double flop = w.total_flops();
    const std::string name = printable(ir::short_kernel_name(w.name));
    const auto ridge = [](double value) {
      return value > 0 ? Cell::number(value, ratio(value)) : Cell::none();
    };
    records.add({count(w.kernel),
                 Cell::text(printable(w.name)),
                 Cell{name, abbreviated(name, 22)},
                 Cell::text(w.op),
                 time(w.seconds),
                 Cell::number(flop, flops(flop)),
                 w.main_bytes ? Cell::number(*w.main_bytes, bytes(*w.main_bytes)) : Cell::none(),
                 intensity(k.intensity),
                 intensity(k.l2_intensity),
                 intensity(k.l1_intensity),
                 intensity(k.instruction_intensity),
                 ridge(k.ridge),
                 ridge(k.instruction_ridge),
                 Cell::text(side(k.above_ridge, !k.ceilings.empty())),
                 Cell::text(side(k.instruction_intensity.value_or(0) > k.instruction_ridge,
                                 k.instruction_intensity && k.instruction_ridge > 0)),
                 Cell::text(k.binding()),
                 share(k.attained),
                 Cell::text(model::name_of(k.bound)),
                 time(k.headroom_s),
                 count(w.clock_locked ? 1 : 0)});
  }
  return records;
}

Records group_records(const RooflineReport& report, std::size_t rows) {
  Records records;
  records.column({"name", "kernel", kLeft});
  records.column({"op", "op", kLeft});
  records.column({"kernels", "x"});
  records.column({"seconds", "us"});
  records.column({"share", "share\n%"});
  records.column({"binding", "ceiling", kLeft});
  records.column({"attained", "of it\n%"});
  records.column({"bound", "bound by", kLeft});
  records.column({"headroom_s", "saves\nus"});
  for (std::size_t i = 0; i < std::min(rows, report.groups.size()); ++i) {
    const RooflineGroup& g = report.groups[i];
    records.add({Cell{g.name, abbreviated(g.name, 36)}, Cell::text(g.op), count(g.kernels),
                 time(g.seconds), share(report.seconds > 0 ? g.seconds / report.seconds : 0),
                 Cell::text(g.binding), share(g.attained()), Cell::text(g.bound),
                 time(g.headroom_s)});
  }
  return records;
}

/// "memory 63.8 %, launch 5.3 %", the greatest first.
std::string shares_text(const std::map<std::string, double>& shares) {
  std::vector<std::pair<std::string, double>> sorted(shares.begin(), shares.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(-a.second, a.first) < std::pair(-b.second, b.first);
  });
  std::string text;
  for (const auto& [name, part] : sorted) {
    text += fmt::format("{}{} {} %", text.empty() ? "" : ", ", name, hundredths(part));
  }
  return text;
}

Json object_of(const std::map<std::string, double>& shares) {
  Json result = Json::object();
  for (const auto& [name, part] : shares) {
    result[name] = part;
  }
  return result;
}

constexpr std::string_view kDefinitions =
    "side: of the ridge, whether its FLOP (its instructions, where it has none) or device memory "
    "take longer; ceiling: the resource that alone would take longest; of it: that time over the "
    "measured; bound by latency: below 75 % of every ceiling; launch: that, and shorter than two "
    "launches; saves: at the ceiling";

}  // namespace

std::string roofline_table(const RooflineReport& report, std::size_t rows, bool each) {
  constexpr std::size_t kWidth = 130;
  double headroom = 0;
  for (const RooflineGroup& group : report.groups) {
    headroom += group.headroom_s;
  }
  std::string text = fmt::format(
      "{} kernels on {}, {}; at their ceilings they would take {} less; those first that would "
      "save most\n\n",
      report.kernels.size(), report.machine.name, seconds(report.seconds), seconds(headroom));
  text +=
      each ? kernel_records(report, rows).table(kWidth) : group_records(report, rows).table(kWidth);
  const std::size_t all = each ? report.kernels.size() : report.groups.size();
  if (all > rows) {
    text += fmt::format("and {} more\n", all - rows);
  }
  text += fmt::format(
      "\ntime bound by    {}\nnearest ceiling  {}\nop class known for {} % of the time\n",
      shares_text(report.bound), shares_text(report.nearest), hundredths(report.classified));
  if (const auto unknown = report.nearest.find("unknown");
      unknown != report.nearest.end() && unknown->second > 0) {
    text += "\n" + paragraph(
                       "unknown: neither counters nor an op of a model tell the FLOP and bytes; "
                       "import counters of Nsight Compute, or name the model");
  }
  if (report.locked > 0) {
    text += "\n" + paragraph(fmt::format(
                       "{} kernels were timed with the clocks held by the profiler: their times "
                       "are not those of a free run, and are held against rates at that clock",
                       report.locked));
  }
  return text + "\n" + paragraph(kDefinitions);
}

std::string roofline_json(const RooflineReport& report) {
  return json_text({{"schema", "mansard.trace-roofline/1"},
                    {"machine", report.machine.name},
                    {"classified_share", report.classified},
                    {"share_of_time", object_of(report.bound)},
                    {"share_of_nearest_ceiling", object_of(report.nearest)},
                    {"clock_locked_kernels", report.locked},
                    {"by_kernel", group_records(report, report.groups.size()).json()},
                    {"kernels", kernel_records(report, report.kernels.size()).json()}});
}

std::string roofline_csv(const RooflineReport& report, bool each) {
  return each ? kernel_records(report, report.kernels.size()).csv()
              : group_records(report, report.groups.size()).csv();
}

std::string roofline_svg(const RooflineReport& report, RooflinePlot plot) {
  constexpr double kSector = 32;
  const bool instructions = plot == RooflinePlot::kInstructions;
  const hardware::Machine& machine = report.machine;
  HeatMap map{.title =
                  fmt::format("time over the {} of {}",
                              instructions ? "instruction roofline" : "roofline", machine.name)};
  if (instructions) {
    map.x = "warp instructions per sector of device memory";
    map.y = "warp instructions/s";
  }
  std::map<std::string, double> rates;
  for (const model::KernelRoofline& k : report.kernels) {
    const auto& x = instructions ? k.instruction_intensity : k.intensity;
    const double amount =
        instructions ? k.work->warp_instructions.value_or(0) : k.work->total_flops();
    if (x && *x > 0 && amount > 0 && k.work->seconds > 0) {
      map.points.push_back({*x, amount / k.work->seconds, k.work->seconds});
    }
    for (const auto& [rate, used] : k.work->flops) {
      const auto value =
          machine.find(rate) != nullptr ? machine.known(rate) : std::optional<double>();
      if (value && !instructions) {
        rates[rate] = *value;
      }
    }
  }
  if (const auto issue = machine.known("instruction"); instructions && issue) {
    rates["issue"] = *issue;
  }
  for (const auto& [rate, value] : rates) {
    map.rates.push_back({rate, value});
  }
  const double unit = instructions ? kSector : 1;
  for (const std::string& tier : {machine.main().name, std::string("l2"), std::string("shared")}) {
    for (const char* figure : {".bandwidth", ".measured_bandwidth"}) {
      if (const auto value = machine.known(tier + figure)) {
        map.bandwidths.push_back({tier, *value / unit});
        break;
      }
    }
  }
  return heat_map_svg(map);
}

}  // namespace mansard::cli
