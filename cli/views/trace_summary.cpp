#include "cli/views/trace_summary.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "cli/views/records.hpp"
#include "support/text.hpp"

namespace mansard::cli {
namespace {

using traces::Summary;
using traces::TimeRow;

constexpr double kNanosecond = 1e-9;
constexpr std::size_t kNameWidth = 44;

double as_seconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * kNanosecond;
}

Cell nanoseconds(std::int64_t value) {
  return Cell::number(static_cast<double>(value), microseconds(as_seconds(value)));
}

double part(std::int64_t value, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(value) / static_cast<double>(whole) : 0;
}

Cell optional_number(const std::optional<double>& value, std::string (*shown)(double)) {
  return value ? Cell::number(*value, shown(*value)) : Cell::none();
}

std::string hundredths(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}

Records kernel_records(const Summary& summary, std::size_t rows) {
  Records records;
  records.column({"name", "", TextTable::Align::kLeft});
  records.column({"short_name", "kernel", TextTable::Align::kLeft});
  records.column({"kernels", "x"});
  records.column({"total_ns", "total\nus"});
  records.column({"share", "share\n%"});
  records.column({"mean_ns", "mean\nus"});
  records.column({"min_ns", "least\nus"});
  records.column({"max_ns", "most\nus"});
  records.column({"occupancy", "occu-\npancy %"});
  records.column({"waves", "waves"});
  records.column({"tail", "tail\n%"});
  for (std::size_t i = 0; i < std::min(rows, summary.by_kernel.size()); ++i) {
    const TimeRow& row = summary.by_kernel[i];
    const double share = part(row.total_ns, summary.kernel_time_ns);
    const double mean = static_cast<double>(row.total_ns) / static_cast<double>(row.kernels);
    records.add(
        {Cell::text(printable(row.name)),
         Cell{printable(row.short_name), abbreviated(printable(row.short_name), kNameWidth)},
         Cell::number(static_cast<double>(row.kernels), std::to_string(row.kernels)),
         nanoseconds(row.total_ns), Cell::number(share, hundredths(share)),
         Cell::number(mean, microseconds(mean * kNanosecond)), nanoseconds(row.least_ns),
         nanoseconds(row.most_ns), optional_number(row.occupancy, hundredths),
         optional_number(row.waves, ratio), optional_number(row.tail, hundredths)});
  }
  return records;
}

Records op_records(const Summary& summary, std::size_t rows) {
  Records records;
  records.column({"name", "op", TextTable::Align::kLeft});
  records.column({"kernels", "kernels"});
  records.column({"total_ns", "total\nus"});
  records.column({"share", "share\n%"});
  for (std::size_t i = 0; i < std::min(rows, summary.by_op.size()); ++i) {
    const TimeRow& row = summary.by_op[i];
    const double share = part(row.total_ns, summary.kernel_time_ns);
    records.add({Cell{printable(row.name), abbreviated(printable(row.name), kNameWidth)},
                 Cell::number(static_cast<double>(row.kernels), std::to_string(row.kernels)),
                 nanoseconds(row.total_ns), Cell::number(share, hundredths(share))});
  }
  return records;
}

std::string head(const Summary& s) {
  std::string text;
  for (const traces::RunRow& run : s.runs) {
    text += fmt::format("{} ({}{}{}): {} kernels{}\n", run.file, run.format,
                        run.producer.empty() ? "" : ", " + printable(run.producer),
                        run.rank ? fmt::format(", rank {}", *run.rank) : "", run.kernels,
                        run.broken.empty() ? "" : "; " + run.broken);
  }
  for (const ir::TraceDevice& device : s.devices) {
    text += fmt::format("device {}\n", printable(device.name));
  }
  return text;
}

/// Who waited for whom, in a sentence.
std::string verdict(const Summary& s) {
  if (s.span_ns == 0) {
    return "";
  }
  const double idle = part(s.idle.total_ns, s.span_ns);
  constexpr double kLittle = 0.1;
  if (idle < kLittle) {
    return "device-bound: the device is seldom idle";
  }
  return 2 * s.idle.host_ns > s.idle.total_ns ? "host-bound: the device waits for launches"
                                              : "waits of the device are mostly not for launches";
}

std::string times(const Summary& s) {
  std::string text = fmt::format(
      "kernels     {} in {}, at least one running for {}\n"
      "links       {} kernels with their launch, {} without; {} with their op\n"
      "transfers   {} copies ({}, {}), {} memsets; {} synchronisations\n",
      grouped(static_cast<double>(s.kernels)), seconds(as_seconds(s.kernel_time_ns)),
      seconds(as_seconds(s.kernel_busy_ns)), grouped(static_cast<double>(s.linked)),
      grouped(static_cast<double>(s.unlinked)), grouped(static_cast<double>(s.in_op)),
      grouped(static_cast<double>(s.copies)), bytes(static_cast<double>(s.copy_bytes)),
      seconds(as_seconds(s.copy_time_ns)), grouped(static_cast<double>(s.memsets)),
      grouped(static_cast<double>(s.synchronisations)));
  if (s.span_ns > 0) {
    text += fmt::format(
        "device      busy {} of {} ({}); idle {} in {} gaps, the longest {}\n"
        "idle for    the host {}, launches under way {}, unknown {}\n",
        seconds(as_seconds(s.device_busy_ns)), seconds(as_seconds(s.span_ns)),
        percent(part(s.device_busy_ns, s.span_ns)), seconds(as_seconds(s.idle.total_ns)),
        grouped(static_cast<double>(s.idle.gaps)), seconds(as_seconds(s.idle.longest_ns)),
        percent(part(s.idle.host_ns, s.idle.total_ns)),
        percent(part(s.idle.latency_ns, s.idle.total_ns)),
        percent(part(s.idle.unknown_ns, s.idle.total_ns)));
    text += fmt::format("verdict     {}\n", verdict(s));
  }
  if (s.counter_kernels > 0 && s.matched > 0) {
    text += fmt::format("counters    {} of {} kernels matched with the timeline\n", s.matched,
                        s.counter_kernels);
  }
  return text;
}

constexpr std::string_view kDefinitions =
    "occupancy: threads that registers, shared memory and block size let a processor hold, over "
    "all "
    "it could; waves: blocks over those that run at once; tail: share of the time that a partial "
    "last wave leaves processors idle, were all blocks equal; idle: nothing ran on the device";

Json run_json(const traces::RunRow& run) {
  return {{"file", run.file},
          {"format", run.format},
          {"producer", printable(run.producer)},
          {"rank", json_optional(run.rank)},
          {"clocks_locked", run.clocks_locked},
          {"has_timeline", run.has_timeline},
          {"kernels", run.kernels},
          {"broken", run.broken.empty() ? Json(nullptr) : Json(run.broken)}};
}

}  // namespace

std::string trace_summary_table(const Summary& summary, std::size_t rows) {
  std::string text = head(summary) + "\n" + times(summary);
  if (!summary.by_kernel.empty()) {
    text += "\n" + kernel_records(summary, rows).table();
    if (summary.by_kernel.size() > rows) {
      text += fmt::format("and {} more\n", summary.by_kernel.size() - rows);
    }
  }
  if (summary.in_op > 0) {
    text += "\n" + op_records(summary, rows).table();
  }
  return text + "\n" + paragraph(kDefinitions);
}

std::string trace_summary_json(const Summary& s) {
  Json runs = Json::array();
  for (const traces::RunRow& run : s.runs) {
    runs.push_back(run_json(run));
  }
  Json devices = Json::array();
  for (const ir::TraceDevice& device : s.devices) {
    devices.push_back(printable(device.name));
  }
  Json streams = Json::array();
  for (const traces::StreamRow& stream : s.streams) {
    streams.push_back({{"run", stream.run},
                       {"device", stream.device},
                       {"stream", stream.stream},
                       {"kernels", stream.kernels},
                       {"busy_ns", stream.busy_ns}});
  }
  const Json idle{{"gaps", s.idle.gaps},
                  {"total_ns", s.idle.total_ns},
                  {"longest_ns", s.idle.longest_ns},
                  {"host_ns", s.idle.host_ns},
                  {"latency_ns", s.idle.latency_ns},
                  {"unknown_ns", s.idle.unknown_ns}};
  return json_text({{"schema", "mansard.trace/1"},
                    {"kernels", s.kernels},
                    {"kernel_time_ns", s.kernel_time_ns},
                    {"gpu_busy_ns", s.kernel_busy_ns},
                    {"device_busy_ns", s.device_busy_ns},
                    {"span_ns", s.span_ns},
                    {"memcpys", s.copies},
                    {"memcpy_time_ns", s.copy_time_ns},
                    {"memcpy_bytes", s.copy_bytes},
                    {"memsets", s.memsets},
                    {"synchronisations", s.synchronisations},
                    {"launches", s.launches},
                    {"ops", s.ops},
                    {"kernels_linked", s.linked},
                    {"kernels_unlinked", s.unlinked},
                    {"kernels_in_op", s.in_op},
                    {"idle", idle},
                    {"verdict", verdict(s)},
                    {"counter_kernels", s.counter_kernels},
                    {"counter_kernels_matched", s.matched},
                    {"runs", runs},
                    {"devices", devices},
                    {"streams", streams},
                    {"by_kernel", kernel_records(s, s.by_kernel.size()).json()},
                    {"by_op", op_records(s, s.by_op.size()).json()}});
}

std::string trace_summary_csv(const Summary& summary) {
  return kernel_records(summary, summary.by_kernel.size()).csv();
}

}  // namespace mansard::cli
