#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "traces/dataset/sqlite.hpp"
#include "traces/importers.hpp"

namespace mansard::traces {
namespace {

using Kind = ir::TraceEventKind;

/// A global thread id holds the thread in its low 24 bits and the process above.
constexpr unsigned kThreadBits = 24;
constexpr std::int64_t kThreadMask = (std::int64_t{1} << kThreadBits) - 1;

/// Kinds of NVTX events (ENUM_NSYS_EVENT_TYPE) that are ranges or marks.
constexpr std::array<std::int64_t, 2> kMarks{34, 69};
constexpr std::array<std::int64_t, 4> kRanges{59, 60, 70, 71};

class Reader {
 public:
  Reader(Database& db, ir::TraceSink& sink) : db_(db), sink_(sink) {}

  ReadReport read() {
    report_.run.format = "nsys";
    facts();
    devices();
    for (const std::string& table : tables("CUPTI_ACTIVITY_KIND_RUNTIME")) {
      launches(table);
    }
    for (const std::string& table : tables("CUPTI_ACTIVITY_KIND_DRIVER")) {
      launches(table);
    }
    for (const std::string& table : tables("CUPTI_ACTIVITY_KIND_KERNEL")) {
      kernels(table);
    }
    transfers("CUPTI_ACTIVITY_KIND_MEMCPY", Kind::kCopy);
    transfers("CUPTI_ACTIVITY_KIND_MEMSET", Kind::kMemset);
    transfers("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", Kind::kSynchronisation);
    for (const std::string& table : tables("NVTX_EVENTS")) {
      ranges(table);
    }
    count_others();
    if (const auto status = db_.status(); !status) {
      report_.broken = Break{"nsys", status.error().front().message, {}, 0};
    }
    return std::move(report_);
  }

 private:
  /// A table and its later forms: NAME, NAME_V2, ...
  std::vector<std::string> tables(std::string_view name) {
    Statement rows = db_.prepare(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND (name = ?1 OR name "
        "GLOB ?1 || '_V[0-9]*') ORDER BY name");
    std::vector<std::string> result;
    for (rows.bind(name); rows.step();) {
      result.emplace_back(rows.text(0));
    }
    known_.insert(known_.end(), result.begin(), result.end());
    return result;
  }

  /// The column of the table, whatever the version; what stands for it where there is none.
  std::string column(const std::string& table, std::string_view name,
                     std::string_view otherwise = "NULL") {
    return db_.has_column(table, name) ? fmt::format("t.\"{}\"", name) : std::string(otherwise);
  }
  std::string columns(const std::string& table, std::initializer_list<std::string_view> names) {
    std::string result;
    for (const std::string_view name : names) {
      result += (result.empty() ? "" : ", ") + column(table, name);
    }
    return result;
  }
  /// The text of a column, which holds it or its id.
  std::string text(const std::string& table, std::string_view name) {
    if (!db_.has_column(table, name)) {
      return "NULL";
    }
    const std::string plain =
        fmt::format("CASE typeof(t.\"{0}\") WHEN 'text' THEN t.\"{0}\" END", name);
    return db_.has_table("StringIds")
               ? fmt::format("coalesce({}, (SELECT value FROM StringIds WHERE id = t.\"{}\"))",
                             plain, name)
               : plain;
  }

  void facts() {
    if (db_.has_table("META_DATA_EXPORT")) {
      Statement version = db_.prepare(
          "SELECT group_concat(value, ', schema ') FROM (SELECT value FROM META_DATA_EXPORT WHERE "
          "name IN ('EXPORT_PRODUCT_VERSION', 'EXPORT_SCHEMA_VERSION') ORDER BY name)");
      report_.run.producer = version.step() ? std::string(version.text(0)) : "";
    }
    if (db_.has_column("TARGET_INFO_SESSION_START_TIME", "utcEpochNs")) {
      Statement start = db_.prepare("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME");
      report_.run.base_ns = start.step() ? start.integer(0) : 0;
    }
  }

  void devices() {
    const std::string table = "TARGET_INFO_GPU";
    if (!db_.has_table(table)) {
      return;
    }
    Statement rows = db_.prepare(
        fmt::format("SELECT {} FROM {} t",
                    columns(table, {"id", "name", "smCount", "totalMemory", "memoryBandwidth",
                                    "clockRate", "computeMajor", "computeMinor", "threadsPerWarp",
                                    "maxRegistersPerSm", "maxShmemPerSm", "maxWarpsPerSm"}),
                    table));
    while (rows.step()) {
      ir::TraceDevice device{.id = rows.integer(0), .name = std::string(rows.text(1))};
      device.sm_count = rows.integer(2);
      device.memory_bytes = rows.integer(3);
      device.bandwidth = rows.integer(4);
      device.clock_hz = rows.integer(5);
      device.compute_major = rows.integer(6);
      device.compute_minor = rows.integer(7);
      device.warp_size = rows.integer(8);
      device.registers_per_sm = rows.integer(9);
      device.shared_per_sm = rows.integer(10);
      device.threads_per_sm = rows.integer(11) * device.warp_size;
      sink_.device(device);
    }
  }

  static std::optional<std::int64_t> optional(const Statement& row, int column) {
    return row.is_null(column) ? std::nullopt : std::optional(row.integer(column));
  }

  void launches(const std::string& table) {
    Statement rows =
        db_.prepare(fmt::format("SELECT {}, {} FROM {} t ORDER BY 1",
                                columns(table, {"start", "end", "globalTid", "correlationId"}),
                                text(table, "nameId"), table));
    std::int64_t read = 0;
    for (; rows.step(); ++read) {
      ir::TraceEvent event{.kind = Kind::kLaunch, .name = rows.text(4)};
      time(rows, event);
      event.process = rows.integer(2) >> kThreadBits;
      event.thread = rows.integer(2) & kThreadMask;
      event.correlation = optional(rows, 3);
      sink_.event(event);
    }
    sink_.count(table, read, true);
  }

  static void time(const Statement& rows, ir::TraceEvent& event) {
    event.start_ns = rows.integer(0);
    event.duration_ns = std::max<std::int64_t>(0, rows.integer(1) - event.start_ns);
  }

  void kernels(const std::string& table) {
    Statement rows = db_.prepare(fmt::format(
        "SELECT {}, coalesce({}, {}, {}, {}, {}), {} FROM {} t ORDER BY 1, 2",
        columns(table,
                {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                 "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
                 "staticSharedMemory", "dynamicSharedMemory", "graphNodeId"}),
        text(table, "demangledName"), text(table, "mangledName"), text(table, "shortName"),
        text(table, "nameId"), text(table, "name"), text(table, "shortName"), table));
    std::int64_t read = 0;
    for (; rows.step(); ++read) {
      ir::TraceEvent event{
          .kind = Kind::kKernel, .name = rows.text(17), .short_name = rows.text(18)};
      time(rows, event);
      event.device = rows.integer(2);
      event.context = rows.integer(3);
      event.stream = rows.integer(4);
      event.correlation = optional(rows, 5);
      event.process = rows.integer(6) >> kThreadBits;
      event.registers = rows.integer(7);
      event.grid = {rows.integer(8), rows.integer(9), rows.integer(10)};
      event.block = {rows.integer(11), rows.integer(12), rows.integer(13)};
      event.shared_static = rows.integer(14);
      event.shared_dynamic = rows.integer(15);
      event.graph_node = optional(rows, 16);
      sink_.event(event);
    }
    sink_.count(table, read, true);
  }

  void transfers(std::string_view name, Kind kind) {
    for (const std::string& table : tables(name)) {
      Statement rows = db_.prepare(
          fmt::format("SELECT {} FROM {} t ORDER BY 1, 2",
                      columns(table, {"start", "end", "deviceId", "streamId", "correlationId",
                                      "globalPid", "bytes", "copyKind", "syncType"}),
                      table));
      std::int64_t read = 0;
      for (; rows.step(); ++read) {
        ir::TraceEvent event{.kind = kind};
        time(rows, event);
        event.device = rows.integer(2);
        event.stream = rows.integer(3);
        event.correlation = optional(rows, 4);
        event.process = rows.integer(5) >> kThreadBits;
        event.bytes = rows.integer(6);
        constexpr std::int64_t kStreamSync = 3;
        if (kind == Kind::kSynchronisation && rows.integer(8) == kStreamSync) {
          event.awaited_stream = event.stream;
        }
        const std::string label = name_of(kind, rows.integer(7), rows.integer(8));
        event.name = label;
        event.copy_kind = kind == Kind::kCopy ? copy_kind(rows.integer(7)) : std::string_view{};
        sink_.event(event);
      }
      sink_.count(table, read, true);
    }
  }

  /// CUPTI's numbers of copy kinds.
  static std::string_view copy_kind(std::int64_t number) {
    constexpr std::array<std::string_view, 11> kKinds{
        "?", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    return number > 0 && number < static_cast<std::int64_t>(kKinds.size())
               ? kKinds[static_cast<std::size_t>(number)]
               : kKinds[0];
  }
  /// CUPTI's numbers of synchronisations, in the words of Kineto.
  static std::string_view sync_name(std::int64_t number) {
    constexpr std::array<std::string_view, 5> kNames{
        "Synchronisation", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
    return number > 0 && number < static_cast<std::int64_t>(kNames.size())
               ? kNames[static_cast<std::size_t>(number)]
               : kNames[0];
  }
  static std::string name_of(Kind kind, std::int64_t copy, std::int64_t sync) {
    switch (kind) {
      case Kind::kCopy:
        return fmt::format("Memcpy {}", copy_kind(copy));
      case Kind::kMemset:
        return "Memset";
      default:
        return std::string(sync_name(sync));
    }
  }

  void ranges(const std::string& table) {
    const std::int64_t session_end = last_time();
    Statement rows =
        db_.prepare(fmt::format("SELECT {}, coalesce({}, {}) FROM {} t ORDER BY 1",
                                columns(table, {"start", "end", "globalTid", "eventType"}),
                                column(table, "text"), text(table, "textId"), table));
    std::int64_t kept = 0;
    std::int64_t others = 0;
    std::int64_t open = 0;
    while (rows.step()) {
      const std::int64_t type = rows.integer(3);
      const bool mark = std::count(kMarks.begin(), kMarks.end(), type) > 0;
      if (!mark && std::count(kRanges.begin(), kRanges.end(), type) == 0) {
        ++others;
        continue;
      }
      ir::TraceEvent event{
          .kind = Kind::kAnnotation, .name = rows.text(4), .category = mark ? "nvtx mark" : "nvtx"};
      event.start_ns = rows.integer(0);
      const bool ended = !rows.is_null(1);
      open += !mark && !ended ? 1 : 0;
      const std::int64_t end = mark ? event.start_ns : (ended ? rows.integer(1) : session_end);
      event.duration_ns = std::max<std::int64_t>(0, end - event.start_ns);
      event.process = rows.integer(2) >> kThreadBits;
      event.thread = rows.integer(2) & kThreadMask;
      sink_.event(event);
      ++kept;
    }
    sink_.count(table, kept, true);
    sink_.count(table + ", neither range nor mark", others, false);
    if (open > 0) {
      sink_.count(table + ", open at the end of the session", open, true);
    }
  }

  /// The end of the last event on a device.
  std::int64_t last_time() {
    std::int64_t last = 0;
    for (const std::string& table : tables("CUPTI_ACTIVITY_KIND_KERNEL")) {
      Statement row = db_.prepare(fmt::format("SELECT max(\"end\") FROM {}", table));
      last = std::max(last, row.step() ? row.integer(0) : 0);
    }
    return last;
  }

  /// Tables that hold other things, so that nothing goes unsaid.
  void count_others() {
    Statement rows = db_.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '[A-Z]*' AND name NOT "
        "GLOB 'ENUM_*' AND name NOT GLOB 'TARGET_INFO_*' AND name NOT GLOB 'META_DATA_*' AND name "
        "<> 'StringIds' ORDER BY name");
    std::vector<std::string> others;
    while (rows.step()) {
      if (std::count(known_.begin(), known_.end(), rows.text(0)) == 0) {
        others.emplace_back(rows.text(0));
      }
    }
    for (const std::string& table : others) {
      Statement row = db_.prepare(fmt::format("SELECT count(*) FROM \"{}\"", table));
      sink_.count(table, row.step() ? row.integer(0) : 0, false);
    }
  }

  Database& db_;
  ir::TraceSink& sink_;
  ReadReport report_;
  std::vector<std::string> known_;
};

}  // namespace

bool looks_like_nsys(std::string_view beginning) {
  return beginning.starts_with("SQLite format 3");
}

Result<ReadReport> import_nsys(const std::string& path, ir::TraceSink& sink) {
  auto database = Database::open_read_only(path);
  if (!database) {
    return failure(std::move(database.error()));
  }
  if ((*database)->has_table("imports") && (*database)->has_table("matches")) {
    return failure("trace-format", fmt::format("'{}' is a dataset already", path), {},
                   "import the profilers' files again, all at once");
  }
  if (!(*database)->has_table("StringIds") && !(*database)->has_table("META_DATA_EXPORT")) {
    return failure("trace-format",
                   fmt::format("'{}' is an SQLite file, but no export of Nsight Systems", path), {},
                   "make one with nsys export --type sqlite FILE.nsys-rep");
  }
  return Reader(**database, sink).read();
}

}  // namespace mansard::traces
