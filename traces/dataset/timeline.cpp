#include "traces/dataset/timeline.hpp"

#include <filesystem>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

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
                              .waits = waits(rows.text(6)),
                              .name = std::string(rows.text(6))});
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

/// Waits for streams and events that the profiler saw. Of an event, only a recording that is in the
/// file tells what was waited for.
void read_waits(Database& db, const std::unordered_map<std::int64_t, std::size_t>& calls,
                ir::Timeline& timeline) {
  Statement rows = db.prepare(
      "SELECT t.run, t.device, t.launch, n.text, t.stream, t.awaited_stream, (SELECT l.id FROM "
      "launch_rows l WHERE l.correlation = t.awaited_correlation AND l.run = t.run ORDER BY "
      "l.start_ns LIMIT 1) FROM transfer_rows t JOIN names n ON n.id = t.name WHERE t.kind = "
      "'synchronisation' AND t.launch IS NOT NULL ORDER BY t.run, t.start_ns, t.id");
  while (rows.step()) {
    const std::string_view name = rows.text(3);
    const auto call = calls.find(rows.integer(2));
    const auto record = rows.is_null(6) ? calls.end() : calls.find(rows.integer(6));
    const bool of_stream = name == "Stream Wait Event";
    if (call == calls.end() || (of_stream && record == calls.end())) {
      continue;
    }
    ir::Wait wait{.run = rows.integer(0), .device = rows.integer(1), .call = call->second};
    if (of_stream) {
      wait.stream = rows.integer(4);
    }
    if (!rows.is_null(5)) {
      wait.awaited_stream = rows.integer(5);
    } else if (name == "Stream Sync") {
      wait.awaited_stream = rows.integer(4);
    }
    if (record != calls.end()) {
      wait.recorded = record->second;
    }
    timeline.waits.push_back(wait);
  }
}

}  // namespace

Result<ir::Timeline> read_timeline(Database& dataset) {
  ir::Timeline timeline;
  const auto calls = read_calls(dataset, timeline);
  read_activities(dataset, calls, timeline);
  read_waits(dataset, calls, timeline);
  Statement worlds = dataset.prepare("SELECT id, world_size FROM runs WHERE world_size > 0");
  while (worlds.step()) {
    timeline.world_sizes[worlds.integer(0)] = worlds.integer(1);
  }
  for (const ir::TraceDevice& device : devices_of(dataset)) {
    timeline.devices.push_back(device.name);
  }
  if (const auto status = dataset.status(); !status) {
    return failure(status.error());
  }
  return timeline;
}

Result<void> write_projected(const std::string& from, const std::string& to,
                             const std::string& machine, const ir::Timeline& timeline,
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
    Statement prediction = db.prepare("INSERT INTO predictions VALUES(?,?,?,?,?,?,?,?,?,?)");
    for (const ir::Activity& a : timeline.activities) {
      (a.kind == Kind::kKernel ? kernel : transfer).run(a.id, a.start_ns, a.duration_ns);
    }
    for (const ir::HostCall& c : timeline.calls) {
      call.run(c.id, c.start_ns, c.duration_ns);
    }
    for (const PredictionRow& p : predictions) {
      prediction.run(p.kernel, p.machine, p.start_ns, p.duration_ns, p.low_ns, p.high_ns, p.binding,
                     p.kind, p.how, p.critical ? 1 : 0);
    }
  }
  // What the profiler said of the old device does not hold of the new one; nor do counters.
  db.prepare(
        "UPDATE devices SET name = ?1, sm_count = NULL, memory_bytes = NULL, bandwidth = NULL, "
        "clock_hz = NULL, compute_capability = NULL, warp_size = NULL, registers_per_sm = NULL, "
        "shared_per_sm = NULL, threads_per_sm = NULL")
      .run(machine);
  db.execute("COMMIT");
  return db.status();
}

}  // namespace mansard::traces
