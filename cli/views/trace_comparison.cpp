#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "cli/views/trace_summary.hpp"
#include "support/text.hpp"

namespace mansard::cli {
namespace {

constexpr double kNanosecond = 1e-9;

struct Side {
  std::int64_t kernels = 0;
  std::int64_t total_ns = 0;
};
using Pairs = std::map<std::string, std::pair<Side, Side>>;

void add(const std::vector<traces::TimeRow>& rows, Side std::pair<Side, Side>::* side,
         Pairs& pairs) {
  for (const traces::TimeRow& row : rows) {
    const std::string& name = row.short_name.empty() ? row.name : row.short_name;
    Side& sum = pairs[printable(name)].*side;
    sum.kernels += row.kernels;
    sum.total_ns += row.total_ns;
  }
}

Cell count(std::int64_t value) {
  return Cell::number(static_cast<double>(value), std::to_string(value));
}

Cell time(std::int64_t ns) {
  return Cell::number(static_cast<double>(ns), microseconds(static_cast<double>(ns) * kNanosecond));
}

Records records_of(const Pairs& pairs, const char* what, std::size_t rows) {
  std::vector<const Pairs::value_type*> sorted;
  for (const auto& pair : pairs) {
    sorted.push_back(&pair);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    const std::int64_t x = std::max(a->second.first.total_ns, a->second.second.total_ns);
    const std::int64_t y = std::max(b->second.first.total_ns, b->second.second.total_ns);
    return std::tie(y, a->first) < std::tie(x, b->first);
  });
  Records records;
  records.column({"name", what, TextTable::Align::kLeft});
  records.column({"first_kernels", "x"});
  records.column({"first_ns", "first\nus"});
  records.column({"second_kernels", "x"});
  records.column({"second_ns", "second\nus"});
  records.column({"speedup", "speed-up"});
  for (std::size_t i = 0; i < std::min(rows, sorted.size()); ++i) {
    const auto& [name, sides] = *sorted[i];
    const auto& [first, second] = sides;
    const bool both = first.total_ns > 0 && second.total_ns > 0;
    const double speedup =
        both ? static_cast<double>(first.total_ns) / static_cast<double>(second.total_ns) : 0;
    records.add({Cell{name, abbreviated(name, 44)}, count(first.kernels), time(first.total_ns),
                 count(second.kernels), time(second.total_ns),
                 both ? Cell::number(speedup, ratio(speedup)) : Cell::none()});
  }
  return records;
}

}  // namespace

std::string trace_comparison(const traces::Summary& first, const traces::Summary& second,
                             std::size_t rows, Format format) {
  Pairs kernels;
  Pairs ops;
  add(first.by_kernel, &std::pair<Side, Side>::first, kernels);
  add(second.by_kernel, &std::pair<Side, Side>::second, kernels);
  add(first.by_op, &std::pair<Side, Side>::first, ops);
  add(second.by_op, &std::pair<Side, Side>::second, ops);
  const double speedup = second.kernel_time_ns > 0 ? static_cast<double>(first.kernel_time_ns) /
                                                         static_cast<double>(second.kernel_time_ns)
                                                   : 0;
  switch (format) {
    case Format::kJson:
      return json_text({{"schema", "mansard.trace-comparison/1"},
                        {"speedup", speedup},
                        {"kernels", records_of(kernels, "", kernels.size()).json()},
                        {"ops", records_of(ops, "", ops.size()).json()}});
    case Format::kCsv:
      return records_of(kernels, "", kernels.size()).csv();
    case Format::kTable:
      break;
  }
  std::string text = fmt::format("kernel time {} and {}: speed-up {}\n\n",
                                 seconds(static_cast<double>(first.kernel_time_ns) * kNanosecond),
                                 seconds(static_cast<double>(second.kernel_time_ns) * kNanosecond),
                                 ratio(speedup));
  text += records_of(kernels, "kernel", rows).table();
  if (first.in_op > 0 || second.in_op > 0) {
    text += "\n" + records_of(ops, "op", rows).table();
  }
  return text;
}

}  // namespace mansard::cli
