#include "traces/dataset/timeline.hpp"

#include <filesystem>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#include "support/text.hpp"
#include "traces/analysis/summary.hpp"
#include "traces/dataset/schema.hpp"

namespace mansard::traces {
namespace {

using Kind = ir::TraceEventKind;

/// Calls that return when work on the device is done. An asynchronous copy does not wait, a plain
/// one to the host does.
bool waits(std::string_view name) {
  return name.find("Synchronize") != std::string_view::npos ||
         (name.find("Memcpy") != std::string_view::npos &&
          name.find("Async") == std::string_view::npos);
}

std::unordered_map<std::int64_t, std::size_t> read_calls(Database& db, ir::Timeline& timeline) {
  Statement rows = db.prepare(
      "SELECT l.id, l.run, l.process, l.thread, l.start_ns, l.duration_ns, n.text FROM launch_rows "
      "l "
      "JOIN names n ON n.id = l.name ORDER BY l.run, l.process, l.thread, l.start_ns, l.id");
  std::unordered_map<std::int64_t, std::size_t> places;
  while (rows.step()) {
    places.emplace(rows.integer(0), timeline.calls.size());
    timeline.calls.push_back({.id = rows.integer(0),
                              .run = rows.integer(1),
                              .process = rows.integer(2),
                              .thread = rows.integer(3),
                              .start_ns = rows.integer(4),
                              .duration_ns = rows.integer(5),
                              .waits = waits(rows.text(6))});
  }
  return places;
}

void read_activities(Database& db, const std::unordered_map<std::int64_t, std::size_t>& calls,
                     ir::Timeline& timeline) {
  const bool timed = db.prepare("SELECT 1 FROM runs WHERE has_timeline = 1").step();
  Statement rows = db.prepare(
      "SELECT 'kernel', k.id, k.run, k.device, k.stream, k.start_ns, k.duration_ns, k.name, "
      "k.op_name, k.shapes, k.dtypes, k.collective, '', 0, k.launch, k.grid_x, k.grid_y, k.grid_z "
      "FROM kernels k JOIN runs r ON r.id = k.run WHERE r.has_timeline = 1 OR ?1 = 0 UNION ALL "
      "SELECT t.kind, t.id, t.run, t.device, t.stream, t.start_ns, t.duration_ns, n.text, NULL, "
      "NULL, NULL, NULL, t.direction, t.bytes, t.launch, 0, 0, 0 FROM transfer_rows t JOIN names n "
      "ON n.id = t.name WHERE t.kind IN ('copy', 'memset') ORDER BY 3, 6, 5, 2");
  for (rows.bind(timed ? 1 : 0); rows.step();) {
    const std::string_view kind = rows.text(0);
    ir::Activity a{
        .id = rows.integer(1),
        .kind = kind == "kernel" ? Kind::kKernel : (kind == "copy" ? Kind::kCopy : Kind::kMemset)};
    a.run = rows.integer(2);
    a.device = rows.integer(3);
    a.stream = rows.integer(4);
    a.start_ns = rows.integer(5);
    a.duration_ns = rows.integer(6);
    a.name = rows.text(7);
    a.op = rows.text(8);
    a.shapes = rows.text(9);
    a.dtypes = rows.text(10);
    a.collective = rows.text(11);
    a.direction = rows.text(12);
    a.bytes = rows.integer(13);
    if (const auto call = calls.find(rows.integer(14)); !rows.is_null(14) && call != calls.end()) {
      a.call = call->second;
    }
    a.grid = {rows.integer(15), rows.integer(16), rows.integer(17)};
    timeline.activities.push_back(std::move(a));
  }
}

std::string json_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result;
}

/// Nanoseconds as microseconds, exactly.
std::string decimal(std::int64_t ns) {
  const std::int64_t magnitude = ns < 0 ? -ns : ns;
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", magnitude / 1000, magnitude % 1000);
}

std::string_view category(Kind kind) {
  switch (kind) {
    case Kind::kCopy:
      return "gpu_memcpy";
    case Kind::kMemset:
      return "gpu_memset";
    default:
      return "kernel";
  }
}

}  // namespace

Result<ir::Timeline> read_timeline(Database& dataset) {
  ir::Timeline timeline;
  const auto calls = read_calls(dataset, timeline);
  read_activities(dataset, calls, timeline);
  for (const ir::TraceDevice& device : devices_of(dataset)) {
    timeline.devices.push_back(device.name);
  }
  if (const auto status = dataset.status(); !status) {
    return failure(status.error());
  }
  return timeline;
}

Result<void> write_projected(const std::string& from, const std::string& to,
                             const ir::Timeline& timeline,
                             const std::vector<PredictionRow>& predictions) {
  std::error_code error;
  if (std::filesystem::exists(to, error) &&
      (std::filesystem::equivalent(from, to, error) || !is_dataset(to))) {
    return failure("dataset-write",
                   fmt::format("'{}' exists and is no other dataset; it is left alone", to), {},
                   "choose another name behind -o");
  }
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
  if (error) {
    return failure("dataset-write", fmt::format("cannot write '{}': {}", to, error.message()));
  }
  auto database = Database::open(to);
  if (!database) {
    return failure(std::move(database.error()));
  }
  Database& db = **database;
  db.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; DELETE FROM predictions");
  {
    Statement kernel =
        db.prepare("UPDATE kernel_rows SET start_ns = ?2, duration_ns = ?3 WHERE id = ?1");
    Statement transfer =
        db.prepare("UPDATE transfer_rows SET start_ns = ?2, duration_ns = ?3 WHERE id = ?1");
    Statement call =
        db.prepare("UPDATE launch_rows SET start_ns = ?2, duration_ns = ?3 WHERE id = ?1");
    Statement prediction = db.prepare("INSERT INTO predictions VALUES(?,?,?,?,?,?,?,?,?)");
    for (const ir::Activity& a : timeline.activities) {
      (a.kind == Kind::kKernel ? kernel : transfer).run(a.id, a.start_ns, a.duration_ns);
    }
    for (const ir::HostCall& c : timeline.calls) {
      call.run(c.id, c.start_ns, c.duration_ns);
    }
    for (const PredictionRow& p : predictions) {
      prediction.run(p.kernel, p.machine, p.start_ns, p.duration_ns, p.low_ns, p.high_ns, p.binding,
                     p.kind, p.how);
    }
  }
  db.execute("COMMIT");
  return db.status();
}

std::string chrome_trace(const ir::Timeline& timeline) {
  std::string text = "{\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [\n";
  for (const ir::Activity& a : timeline.activities) {
    text += fmt::format(
        "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, "
        "\"dur\": {}, \"args\": {{\"device\": {}, \"stream\": {}}}}},\n",
        category(a.kind), json_text(a.name), a.device, a.stream, decimal(a.start_ns),
        decimal(a.duration_ns), a.device, a.stream);
  }
  return text +
         "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {\"name\": \"GPU, "
         "projected by mansard\"}}\n]}\n";
}

}  // namespace mansard::traces
