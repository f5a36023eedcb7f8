#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "cli/trace/roofline_report.hpp"
#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"

namespace mansard::cli {
namespace {

constexpr auto kLeft = TextTable::Align::kLeft;

/// A kernel or an op on one of the machines.
struct Side {
  std::int64_t kernels = 0;
  double seconds = 0;
  double bound_s = 0;
  std::string binding;
  double longest = 0;

  void add(const RooflineGroup& group) {
    kernels += group.kernels;
    seconds += group.seconds;
    bound_s += group.bound_s;
    if (group.seconds > longest) {
      longest = group.seconds;
      binding = group.binding;
    }
  }
};
using Pairs = std::map<std::string, std::pair<Side, Side>>;

template <typename Key>
Pairs pairs_of(const RooflineReport& first, const RooflineReport& second, const Key& key) {
  Pairs result;
  for (const RooflineGroup& group : first.groups) {
    result[key(group)].first.add(group);
  }
  for (const RooflineGroup& group : second.groups) {
    result[key(group)].second.add(group);
  }
  return result;
}

Records records_of(const Pairs& pairs, const char* what, std::size_t rows) {
  std::vector<const Pairs::value_type*> sorted;
  for (const auto& pair : pairs) {
    sorted.push_back(&pair);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    const auto most = [](const auto* pair) {
      return std::max(pair->second.first.seconds, pair->second.second.seconds);
    };
    return std::tuple(-most(a), a->first) < std::tuple(-most(b), b->first);
  });
  Records records;
  records.column({"name", what, kLeft});
  for (const char* side : {"first", "second"}) {
    records.column({fmt::format("{}_kernels", side), "x"});
    records.column({fmt::format("{}_s", side), fmt::format("{}\nus", side)});
    records.column({fmt::format("{}_binding", side), "ceiling", kLeft});
    records.column({fmt::format("{}_attained", side), "of it\n%"});
  }
  records.column({"speedup", "speed-up"});
  for (std::size_t i = 0; i < std::min(rows, sorted.size()); ++i) {
    const auto& [name, sides] = *sorted[i];
    std::vector<Cell> row{Cell{name, abbreviated(name.empty() ? "(not known)" : name, 36)}};
    for (const Side* side : {&sides.first, &sides.second}) {
      const double attained = side->seconds > 0 ? side->bound_s / side->seconds : 0;
      row.push_back(Cell::number(static_cast<double>(side->kernels),
                                 side->kernels > 0 ? std::to_string(side->kernels) : "-"));
      row.push_back(side->kernels > 0 ? Cell::number(side->seconds, microseconds(side->seconds))
                                      : Cell::none());
      row.push_back(Cell::text(side->binding));
      row.push_back(attained > 0 ? Cell::number(attained, fmt::format("{:.1f}", 100 * attained))
                                 : Cell::none());
    }
    const bool both = sides.first.seconds > 0 && sides.second.seconds > 0;
    const double speedup = both ? sides.first.seconds / sides.second.seconds : 0;
    row.push_back(both ? Cell::number(speedup, ratio(speedup)) : Cell::none());
    records.add(std::move(row));
  }
  return records;
}

}  // namespace

std::string roofline_comparison(const RooflineReport& first, const RooflineReport& second,
                                std::size_t rows, Format format) {
  const Pairs kernels =
      pairs_of(first, second, [](const RooflineGroup& group) { return group.name; });
  const Pairs ops = pairs_of(first, second, [](const RooflineGroup& group) { return group.op; });
  const double speedup = second.seconds > 0 ? first.seconds / second.seconds : 0;
  switch (format) {
    case Format::kJson:
      return json_text({{"schema", "mansard.roofline-comparison/1"},
                        {"first", first.machine.name},
                        {"second", second.machine.name},
                        {"speedup", speedup},
                        {"kernels", records_of(kernels, "", kernels.size()).json()},
                        {"ops", records_of(ops, "", ops.size()).json()}});
    case Format::kCsv:
      return records_of(kernels, "", kernels.size()).csv();
    case Format::kTable:
      break;
  }
  return fmt::format("first: {}, {}; second: {}, {}; speed-up {}\n\n{}\n{}\n{}", first.machine.name,
                     seconds(first.seconds), second.machine.name, seconds(second.seconds),
                     ratio(speedup), records_of(ops, "op", rows).table(),
                     records_of(kernels, "kernel", rows).table(),
                     paragraph("ceiling: the resource that alone would take longest; of it: that "
                               "time over the measured"));
}

}  // namespace mansard::cli
