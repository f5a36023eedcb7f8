#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "cli/trace/projection.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "support/text.hpp"

namespace mansard::cli {
namespace {

constexpr std::size_t kNameWidth = 36;
constexpr auto kLeft = TextTable::Align::kLeft;

Cell time(double seconds) {
  return Cell::number(seconds, microseconds(seconds));
}

/// None where nothing took time.
Cell speedup(const ProjectedSum& s) {
  const double value = s.projected > 0 ? s.measured / s.projected : 0;
  return s.projected > 0 ? Cell::number(value, ratio(value)) : Cell::none();
}

Records kernel_records(const Projection& p, std::size_t rows) {
  Records records;
  records.column({"name", "kernel", kLeft});
  records.column({"class", "class", kLeft});
  records.column({"how", "model of", kLeft});
  records.column({"kernels", "x"});
  records.column({"measured_s", "measured\nus"});
  records.column({"low_s", "low\nus"});
  records.column({"projected_s", "projected\nus"});
  records.column({"high_s", "high\nus"});
  records.column({"speedup", "speed-up"});
  std::vector<std::pair<std::string, const ProjectedSum*>> sorted;
  for (const auto& [key, sum] : p.sums) {
    sorted.emplace_back(key.first, &sum);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.second->measured, a.first, a.second->how) <
           std::tuple(-b.second->measured, b.first, b.second->how);
  });
  for (std::size_t i = 0; i < std::min(rows, sorted.size()); ++i) {
    const ProjectedSum& s = *sorted[i].second;
    const std::string& name = sorted[i].first;
    records.add({Cell{name, abbreviated(name, kNameWidth)}, Cell::text(s.kind), Cell::text(s.how),
                 Cell::number(static_cast<double>(s.kernels), std::to_string(s.kernels)),
                 time(s.measured), time(s.low), time(s.projected), time(s.high), speedup(s)});
  }
  return records;
}

Records path_records(const std::map<std::string, PathSum>& path, const char* heading,
                     std::size_t rows) {
  double measured = 0;
  double projected = 0;
  std::vector<std::pair<std::string, PathSum>> sorted;
  for (const auto& [name, sum] : path) {
    measured += sum.measured;
    projected += sum.projected;
    sorted.emplace_back(name, sum);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.second.projected, -a.second.measured, a.first) <
           std::tuple(-b.second.projected, -b.second.measured, b.first);
  });
  const auto share = [](double part, double whole) {
    const double value = whole > 0 ? part / whole : 0;
    return Cell::number(value, fmt::format("{:.1f}", 100 * value));
  };
  Records records;
  records.column({"on", heading, kLeft});
  records.column({"measured_s", "measured\nus"});
  records.column({"measured_share", "\n%"});
  records.column({"projected_s", "projected\nus"});
  records.column({"projected_share", "\n%"});
  for (std::size_t i = 0; i < std::min(rows, sorted.size()); ++i) {
    const auto& [name, sum] = sorted[i];
    records.add({Cell{name, abbreviated(name, kNameWidth)}, time(sum.measured),
                 share(sum.measured, measured), time(sum.projected),
                 share(sum.projected, projected)});
  }
  return records;
}

std::string json_of(const Projection& p) {
  Json unknown = Json::array();
  for (const auto& [name, seconds] : p.unknown) {
    unknown.push_back({{"name", name}, {"measured_s", seconds}});
  }
  return json_text(
      {{"schema", "mansard.projection/1"},
       {"from", p.from},
       {"to", p.to},
       {"host_scale", p.host_scale},
       {"totals",
        {{"measured_s", p.total.measured},
         {"projected_s", p.total.projected},
         {"low_s", p.total.low},
         {"high_s", p.total.high},
         {"measured_span_s", p.measured_span},
         {"projected_span_s", p.projected_span},
         {"low_span_s", p.low_span},
         {"high_span_s", p.high_span}}},
       {"kernels", kernel_records(p, p.sums.size()).json()},
       {"critical_path", path_records(p.path, "", p.path.size()).json()},
       {"critical_kernels", path_records(p.path_kernels, "", p.path_kernels.size()).json()},
       {"unclassified", unknown}});
}

std::string table_of(const Projection& p, std::size_t rows) {
  constexpr std::size_t kWidth = 120;
  constexpr std::size_t kPathKernels = 5;
  std::string text =
      fmt::format("from {} to {}\n\n", p.from, p.to) + kernel_records(p, rows).table(kWidth) + "\n";
  text += fmt::format(
      "device time {} -> {}, between {} and {}\nfirst to last {} -> {}, between {} and {}; time of "
      "the host {}\n",
      seconds(p.total.measured), seconds(p.total.projected), seconds(p.total.low),
      seconds(p.total.high), seconds(p.measured_span), seconds(p.projected_span),
      seconds(p.low_span), seconds(p.high_span),
      p.host_scale == 1 ? "kept" : fmt::format("times {}", ratio(p.host_scale)));
  for (const auto& [name, measured] : p.unknown) {
    text += fmt::format("not classified, scaled by device memory's bandwidth: {} ({})\n",
                        abbreviated(name, 60), seconds(measured));
  }
  text += "\n" + path_records(p.path, "critical path", p.path.size()).table();
  if (!p.path_kernels.empty()) {
    text += "\n" + path_records(p.path_kernels, "kernels on it", kPathKernels).table();
  }
  return text + "\n" +
         paragraph(
             "projected: measured x model on the new machine / model on the old one; model "
             "of: an op of the model, the message of a collective on the links of both "
             "machines (what its measured time exceeds that by is waiting, which goes as the "
             "other kernels do), recorded shapes, or the class alone, whose times scale with "
             "the capacity it leans on (interval: half to twice); first to last: streams, "
             "launches, the queue of launches and waits replayed; critical path: what the "
             "last kernel waited for, and what that waited for, and so on");
}

}  // namespace

Outcome shown(const Projection& p, const ProjectOptions& options) {
  switch (options.format) {
    case Format::kJson:
      return {.out = json_of(p)};
    case Format::kCsv:
      return {.out = kernel_records(p, p.sums.size()).csv()};
    case Format::kTable:
      break;
  }
  return {.out = table_of(p, options.rows)};
}

}  // namespace mansard::cli
