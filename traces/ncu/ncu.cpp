#include "traces/ncu/ncu.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/document.hpp"
#include "support/text.hpp"
#include "traces/byte_source.hpp"
#include "traces/importers.hpp"
#include "traces/ncu/csv.hpp"
#include "traces/ncu/values.hpp"

namespace mansard::traces {
namespace {

using Record = std::vector<std::string>;
constexpr double kNanosecond = 1e-9;
constexpr std::size_t kMostColumns = 100'000;

bool is_header(std::string_view line) {
  return (line.starts_with("\"ID\"") || line.starts_with("ID,") || line.starts_with("ID;")) &&
         line.find("Kernel Name") != std::string_view::npos;
}

/// A line that may be a row: rows begin with a number, the row of units with an empty field.
bool may_be_row(std::string_view line) {
  const std::size_t first = line.starts_with('"') ? 1 : 0;
  if (line.starts_with("\"\"") || line.starts_with(',') || line.starts_with(';')) {
    return true;
  }
  return first < line.size() && line[first] >= '0' && line[first] <= '9';
}

/// One value of a launch as the file has it.
struct Value {
  std::string metric;
  std::string unit;
  std::string text;
};

/// One profiled launch.
struct Launch {
  std::string id;
  std::string name;
  std::string grid;
  std::string block;
  std::string device;
  std::string capability;
  std::string stream;
  std::string context;
  std::vector<Value> values;
};

ir::Extent extent_of(std::string_view text) {
  ir::Extent result{1, 1, 1};
  std::size_t at = 0;
  for (std::int64_t& dim : result) {
    at = std::min(text.find_first_of("0123456789", at), text.size());
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), dim);
    at = static_cast<std::size_t>(end - text.data());
  }
  return result;
}

std::int64_t whole(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class Reader {
 public:
  Reader(std::string_view text, ir::TraceSink& sink)
      : text_(text), sink_(sink), at_(byte_order_mark_length(text)) {}

  ReadReport read() {
    report_.run.format = "ncu";
    report_.run.has_timeline = false;
    report_.bytes = text_.size();
    if (!find_header()) {
      report_.broken = Break{"ncu-header", "no line with the columns \"ID\" and \"Kernel Name\"",
                             "write it with ncu --csv --page raw", 0};
      return std::move(report_);
    }
    report_.run.clocks_locked = !clocks_free_;
    const bool wide = column("Metric Name") == kNone;
    if (wide && header_.size() > kMostColumns) {
      report_.broken = Break{"ncu-header", "more columns than any version writes", {}, 0};
      return std::move(report_);
    }
    locale_ = find_locale();
    wide ? read_wide() : read_long();
    count();
    return std::move(report_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  bool find_header() {
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      const std::string_view line = text_line(text_, at_);
      if (is_header(line)) {
        at_ = begin;
        separator_ = line.find(';') < line.find(',') ? ';' : ',';
        header_ = record();
        return true;
      }
      clocks_free_ |= line.find("unmodified GPU clocks") != std::string_view::npos;
      ++preamble_;
    }
    return false;
  }

  [[nodiscard]] std::size_t column(std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    return found == header_.end() ? kNone : static_cast<std::size_t>(found - header_.begin());
  }

  static std::string field(const Record& record, std::size_t column) {
    return column < record.size() ? record[column] : "";
  }

  Record record() { return csv_record(text_, at_, separator_, closed_); }

  /// The next record behind the header, lines that are none passed over.
  std::optional<Record> next() {
    while (at_ < text_.size()) {
      std::size_t behind = at_;
      const std::string_view line = text_line(text_, behind);
      if (may_be_row(line)) {
        const std::size_t begin = at_;
        Record row = record();
        if (!closed_) {
          report_.broken = Break{"trace-truncated", "the file ends within quotes", {}, begin};
          return std::nullopt;
        }
        return row;
      }
      others_ += line.empty() ? 0 : 1;
      at_ = behind;
    }
    return std::nullopt;
  }

  /// The first value that can have been written in one locale only.
  Locale find_locale() {
    const std::size_t begin = at_;
    const std::size_t value = column("Metric Value");
    const std::set<std::size_t> skipped{column("Kernel Name"), column("Block Size"),
                                        column("Grid Size"), column("CC")};
    Locale locale = Locale::kUnknown;
    while (locale == Locale::kUnknown) {
      const auto record = next();
      if (!record) {
        break;
      }
      for (std::size_t i = 0; i < record->size() && locale == Locale::kUnknown; ++i) {
        if (value != kNone ? i == value : skipped.count(i) == 0) {
          locale = locale_of((*record)[i]);
        }
      }
    }
    at_ = begin;
    others_ = 0;
    report_.broken.reset();
    return locale == Locale::kUnknown && separator_ == ';' ? Locale::kComma : locale;
  }

  [[nodiscard]] Launch launch_of(const Record& record) const {
    return {.id = field(record, column("ID")),
            .name = field(record, column("Kernel Name")),
            .grid = field(record, column("Grid Size")),
            .block = field(record, column("Block Size")),
            .device = field(record, column("Device")),
            .capability = field(record, column("CC")),
            .stream = field(record, column("Stream")),
            .context = field(record, column("Context"))};
  }

  void read_long() {
    const std::size_t name = column("Metric Name");
    const std::size_t unit = column("Metric Unit");
    const std::size_t value = column("Metric Value");
    const std::size_t rule = column("Rule Name");
    const std::size_t advice = column("Rule Description");
    std::optional<Launch> launch;
    std::string key;
    while (const auto record = next()) {
      const std::string id = field(*record, 0) + "/" + field(*record, column("Process ID"));
      if (!launch || id != key) {
        if (launch) {
          hand_on(*launch);
        }
        launch = launch_of(*record);
        key = id;
      }
      ++rows_;
      short_rows_ += record->size() < header_.size() ? 1 : 0;
      if (const std::string metric = field(*record, name); !metric.empty()) {
        launch->values.push_back({metric, field(*record, unit), field(*record, value)});
      } else if (const std::string found = field(*record, rule); !found.empty()) {
        launch->values.push_back({"rule " + found, "", field(*record, advice)});
        ++rules_;
      }
    }
    if (launch) {
      hand_on(*launch);
    }
  }

  void read_wide() {
    const std::set<std::string, std::less<>> facts{
        "ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
        "Stream", "Block Size", "Grid Size",    "Device",    "CC"};
    Record units;
    while (const auto record = next()) {
      if (field(*record, 0).empty()) {
        units = *record;
        continue;
      }
      ++rows_;
      short_rows_ += record->size() < header_.size() ? 1 : 0;
      Launch launch = launch_of(*record);
      for (std::size_t i = 0; i < std::min(record->size(), header_.size()); ++i) {
        if (facts.count(header_[i]) == 0 && !(*record)[i].empty()) {
          launch.values.push_back({header_[i], field(units, i), (*record)[i]});
        }
      }
      hand_on(launch);
    }
  }

  void hand_on(const Launch& launch) {
    ir::TraceEvent event{.kind = ir::TraceEventKind::kKernel, .name = launch.name};
    event.device = whole(launch.device);
    event.stream = whole(launch.stream);
    event.context = whole(launch.context);
    event.grid = extent_of(launch.grid);
    event.block = extent_of(launch.block);
    for (const Value& value : launch.values) {
      add_fact(value, event);
    }
    add_device(launch);
    const std::int64_t kernel = sink_.event(event);
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const Value& value : launch.values) {
      if (!seen.insert({value.metric, value.unit}).second) {
        ++repeated_;  // Sections of the long page share metrics.
        continue;
      }
      const auto number = parse_number(value.text, locale_);
      const BaseUnit base = unit_of(value);
      sink_.counter(kernel, {.metric = value.metric,
                             .unit = base.unit,
                             .value = number.value_or(0) * base.factor,
                             .text = number ? std::string_view{} : std::string_view(value.text)});
      ++values_;
    }
    ++launches_;
  }

  /// Times are in nanoseconds where a file has no units.
  static BaseUnit unit_of(const Value& value) {
    const bool bare = value.unit.empty() && value.metric.starts_with("gpu__time_duration");
    return base_unit(bare ? std::string_view("nsecond") : std::string_view(value.unit));
  }

  /// What of a launch is a column of its own in the dataset.
  void add_fact(const Value& value, ir::TraceEvent& event) const {
    const auto number = parse_number(value.text, locale_);
    if (!number) {
      return;
    }
    const double scaled = *number * unit_of(value).factor;
    // A hostile file holds numbers that no integer does.
    constexpr double kMost = 9e18;
    const auto integer = [&](double x) {
      return std::abs(x) < kMost ? static_cast<std::int64_t>(std::llround(x)) : 0;
    };
    if (value.metric == "gpu__time_duration.sum" || value.metric == "Duration") {
      event.duration_ns = integer(scaled / kNanosecond);
    } else if (value.metric == "launch__registers_per_thread" ||
               value.metric == "Registers Per Thread") {
      event.registers = integer(scaled);
    } else if (value.metric == "launch__shared_mem_per_block_static" ||
               value.metric == "Static Shared Memory Per Block") {
      event.shared_static = integer(scaled);
    } else if (value.metric == "launch__shared_mem_per_block_dynamic" ||
               value.metric == "Dynamic Shared Memory Per Block") {
      event.shared_dynamic = integer(scaled);
    }
  }

  void add_device(const Launch& launch) {
    if (!devices_.insert(launch.device).second) {
      return;
    }
    ir::TraceDevice device{.id = whole(launch.device)};
    device.compute_major = whole(launch.capability);
    const std::size_t point = launch.capability.find('.');
    device.compute_minor = point == std::string::npos
                               ? 0
                               : whole(std::string_view(launch.capability).substr(point + 1));
    const std::map<std::string_view, std::int64_t ir::TraceDevice::*> attributes{
        {"device__attribute_multiprocessor_count", &ir::TraceDevice::sm_count},
        {"# SMs", &ir::TraceDevice::sm_count},
        {"device__attribute_max_registers_per_multiprocessor", &ir::TraceDevice::registers_per_sm},
        {"device__attribute_max_shared_memory_per_multiprocessor", &ir::TraceDevice::shared_per_sm},
        {"device__attribute_max_threads_per_multiprocessor", &ir::TraceDevice::threads_per_sm},
        {"device__attribute_warp_size", &ir::TraceDevice::warp_size}};
    for (const Value& value : launch.values) {
      if (value.metric == "device__attribute_display_name") {
        device.name = value.text;
      }
      const auto found = attributes.find(value.metric);
      const auto number = parse_number(value.text, locale_);
      constexpr double kMost = 9e18;
      if (found != attributes.end() && number && std::abs(*number) < kMost) {
        device.*found->second = static_cast<std::int64_t>(*number * base_unit(value.unit).factor);
      }
    }
    sink_.device(device);
  }

  void count() {
    sink_.count("launches", launches_, true);
    sink_.count("rows", rows_, true);
    sink_.count("values", values_, true);
    const std::pair<const char*, std::int64_t> others[] = {
        {"rows shorter than the header", short_rows_}, {"rules, kept as texts", rules_}};
    for (const auto& [what, events] : others) {
      if (events > 0) {
        sink_.count(what, events, true);
      }
    }
    const std::pair<const char*, std::int64_t> dropped[] = {
        {"values that another section repeats", repeated_},
        {"lines before the header", preamble_},
        {"lines that are no rows", others_}};
    for (const auto& [what, events] : dropped) {
      if (events > 0) {
        sink_.count(what, events, false);
      }
    }
  }

  std::string_view text_;
  ir::TraceSink& sink_;
  ReadReport report_;
  std::size_t at_ = 0;
  char separator_ = ',';
  bool closed_ = true;
  Record header_;
  Locale locale_ = Locale::kUnknown;
  bool clocks_free_ = false;
  std::set<std::string> devices_;
  std::int64_t preamble_ = 0;
  std::int64_t others_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t short_rows_ = 0;
  std::int64_t rules_ = 0;
  std::int64_t repeated_ = 0;
  std::int64_t values_ = 0;
  std::int64_t launches_ = 0;
};

}  // namespace

ReadReport read_ncu(std::string_view text, ir::TraceSink& sink) {
  return Reader(text, sink).read();
}

bool looks_like_ncu(std::string_view beginning) {
  beginning.remove_prefix(byte_order_mark_length(beginning));
  if (beginning.starts_with("==PROF==") || beginning.starts_with("==WARNING==")) {
    return true;
  }
  for (std::size_t at = 0; at < beginning.size();) {
    if (is_header(text_line(beginning, at))) {
      return true;
    }
  }
  return false;
}

Result<ReadReport> import_ncu(const std::string& path, ir::TraceSink& sink) {
  auto source = ByteSource::open(path);
  if (!source) {
    return failure(std::move(source.error()));
  }
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  constexpr std::size_t kMost = std::size_t{1} << 30;
  std::string text;
  for (std::size_t got = kPiece; got > 0 && text.size() <= kMost;) {
    text.resize(text.size() + kPiece);
    got = source->read(std::span(text).last(kPiece));
    text.resize(text.size() - kPiece + got);
  }
  if (text.size() > kMost) {
    return failure("file-size", fmt::format("'{}' is larger than {} bytes", path, kMost));
  }
  ReadReport report = read_ncu(text, sink);
  if (!source->damage().empty() && !report.broken) {
    report.broken = Break{"trace-damaged", source->damage(), {}, text.size()};
  }
  return report;
}

}  // namespace mansard::traces
