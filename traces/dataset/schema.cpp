#include "traces/dataset/schema.hpp"

#include <fmt/format.h>

namespace mansard::traces {
namespace {

/// "MNSD": how SQLite files say what they are of.
constexpr std::int64_t kApplication = 0x4D4E5344;

constexpr std::string_view kTables = R"sql(
PRAGMA application_id = 1296978756;
PRAGMA user_version = 2;
CREATE TABLE runs(
  id INTEGER PRIMARY KEY, file TEXT, format TEXT, producer TEXT, base_ns INTEGER, rank INTEGER, world_size INTEGER,
  clocks_locked INTEGER, has_timeline INTEGER, text_bytes INTEGER, broken TEXT);
CREATE TABLE imports(run INTEGER, what TEXT, events INTEGER, kept INTEGER);
CREATE TABLE devices(
  run INTEGER, device INTEGER, name TEXT, sm_count INTEGER, memory_bytes INTEGER, bandwidth INTEGER, clock_hz INTEGER,
  compute_capability TEXT, warp_size INTEGER, registers_per_sm INTEGER, shared_per_sm INTEGER, threads_per_sm INTEGER);
CREATE TABLE names(id INTEGER PRIMARY KEY, text TEXT, short INTEGER);
CREATE TABLE kernel_rows(
  id INTEGER PRIMARY KEY, run INTEGER, process INTEGER, device INTEGER, context INTEGER, stream INTEGER,
  start_ns INTEGER, duration_ns INTEGER, name INTEGER, correlation INTEGER, external INTEGER, graph_node INTEGER,
  launch INTEGER, op INTEGER, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER,
  block_z INTEGER, registers INTEGER, shared_static INTEGER, shared_dynamic INTEGER, collective INTEGER);
CREATE TABLE transfer_rows(
  id INTEGER PRIMARY KEY, run INTEGER, kind TEXT, process INTEGER, device INTEGER, stream INTEGER, start_ns INTEGER,
  duration_ns INTEGER, name INTEGER, correlation INTEGER, external INTEGER, launch INTEGER, op INTEGER,
  direction TEXT, bytes INTEGER, awaited_stream INTEGER, awaited_correlation INTEGER);
CREATE TABLE launch_rows(
  id INTEGER PRIMARY KEY, run INTEGER, process INTEGER, thread INTEGER, start_ns INTEGER, duration_ns INTEGER,
  name INTEGER, correlation INTEGER, external INTEGER, op INTEGER);
CREATE TABLE op_rows(
  id INTEGER PRIMARY KEY, run INTEGER, process INTEGER, thread INTEGER, start_ns INTEGER, duration_ns INTEGER,
  name INTEGER, external INTEGER, shapes INTEGER, dtypes INTEGER);
CREATE TABLE annotation_rows(
  id INTEGER PRIMARY KEY, run INTEGER, process INTEGER, thread INTEGER, device INTEGER, stream INTEGER,
  start_ns INTEGER, duration_ns INTEGER, name INTEGER, category INTEGER);
CREATE TABLE metrics(id INTEGER PRIMARY KEY, name TEXT, unit TEXT);
CREATE TABLE counter_rows(kernel INTEGER, metric INTEGER, value REAL, text TEXT);
CREATE TABLE matches(timeline_kernel INTEGER, counter_kernel INTEGER, verified INTEGER);
CREATE TABLE predictions(
  kernel INTEGER, machine TEXT, start_ns INTEGER, duration_ns INTEGER, low_ns INTEGER, high_ns INTEGER, binding TEXT,
  class TEXT, how TEXT, critical INTEGER);
)sql";

constexpr std::string_view kViews = R"sql(
CREATE INDEX IF NOT EXISTS counters_by_kernel ON counter_rows(kernel, metric);
CREATE INDEX IF NOT EXISTS matches_by_timeline ON matches(timeline_kernel);
CREATE INDEX IF NOT EXISTS matches_by_counters ON matches(counter_kernel);
CREATE VIEW IF NOT EXISTS kernels AS
  SELECT k.id, k.run, k.process, k.device, k.context, k.stream, k.start_ns, k.duration_ns, n.text AS name,
    s.text AS short_name, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.registers,
    k.shared_static, k.shared_dynamic, k.correlation, k.external, k.graph_node, k.launch, k.op, o.text AS op_name,
    h.text AS shapes, t.text AS dtypes, c.text AS collective
  FROM kernel_rows k JOIN names n ON n.id = k.name LEFT JOIN names s ON s.id = n.short
    LEFT JOIN op_rows r ON r.id = k.op LEFT JOIN names o ON o.id = r.name LEFT JOIN names h ON h.id = r.shapes
    LEFT JOIN names t ON t.id = r.dtypes LEFT JOIN names c ON c.id = k.collective;
CREATE VIEW IF NOT EXISTS copies AS
  SELECT t.id, t.run, t.device, t.stream, t.start_ns, t.duration_ns, n.text AS name, t.direction, t.bytes,
    t.correlation, t.launch, t.op
  FROM transfer_rows t JOIN names n ON n.id = t.name WHERE t.kind = 'copy';
CREATE VIEW IF NOT EXISTS memsets AS
  SELECT t.id, t.run, t.device, t.stream, t.start_ns, t.duration_ns, n.text AS name, t.bytes, t.correlation,
    t.launch, t.op
  FROM transfer_rows t JOIN names n ON n.id = t.name WHERE t.kind = 'memset';
CREATE VIEW IF NOT EXISTS synchronisations AS
  SELECT t.id, t.run, t.device, t.stream, t.start_ns, t.duration_ns, n.text AS name, t.correlation, t.launch,
    t.awaited_stream, t.awaited_correlation
  FROM transfer_rows t JOIN names n ON n.id = t.name WHERE t.kind = 'synchronisation';
CREATE VIEW IF NOT EXISTS launches AS
  SELECT l.id, l.run, l.process, l.thread, l.start_ns, l.duration_ns, n.text AS name, l.correlation, l.external, l.op
  FROM launch_rows l JOIN names n ON n.id = l.name;
CREATE VIEW IF NOT EXISTS ops AS
  SELECT o.id, o.run, o.process, o.thread, o.start_ns, o.duration_ns, n.text AS name, o.external, h.text AS shapes,
    t.text AS dtypes
  FROM op_rows o JOIN names n ON n.id = o.name LEFT JOIN names h ON h.id = o.shapes
    LEFT JOIN names t ON t.id = o.dtypes;
CREATE VIEW IF NOT EXISTS annotations AS
  SELECT a.id, a.run, a.process, a.thread, a.device, a.stream, a.start_ns, a.duration_ns, n.text AS name,
    c.text AS category
  FROM annotation_rows a JOIN names n ON n.id = a.name LEFT JOIN names c ON c.id = a.category;
CREATE VIEW IF NOT EXISTS kernel_annotations AS
  SELECT k.id AS kernel, a.id AS annotation, n.text AS name, a.start_ns, a.duration_ns
  FROM kernel_rows k JOIN launch_rows l ON l.id = k.launch
    JOIN annotation_rows a ON a.run = l.run AND a.process = l.process AND a.thread = l.thread AND a.device IS NULL
      AND a.start_ns <= l.start_ns AND a.start_ns + a.duration_ns >= l.start_ns
    JOIN names n ON n.id = a.name;
CREATE VIEW IF NOT EXISTS counters AS
  SELECT c.kernel, n.text AS kernel_name, m.name AS metric, m.unit, c.value, c.text
  FROM counter_rows c JOIN metrics m ON m.id = c.metric JOIN kernel_rows k ON k.id = c.kernel
    JOIN names n ON n.id = k.name;
CREATE VIEW IF NOT EXISTS unmatched_kernels AS
  SELECT k.run, r.has_timeline, coalesce(s.text, n.text) AS name, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y,
    k.block_z, count(*) AS kernels, sum(k.duration_ns) AS total_ns
  FROM kernel_rows k JOIN runs r ON r.id = k.run JOIN names n ON n.id = k.name LEFT JOIN names s ON s.id = n.short
  WHERE (SELECT min(has_timeline) = 0 AND max(has_timeline) = 1 FROM runs)
    AND NOT EXISTS (SELECT 1 FROM matches m WHERE m.timeline_kernel = k.id)
    AND NOT EXISTS (SELECT 1 FROM matches m WHERE m.counter_kernel = k.id)
  GROUP BY 1, 3, 4, 5, 6, 7, 8, 9 ORDER BY k.run, total_ns DESC, 3;
CREATE VIEW IF NOT EXISTS time_by_kernel AS
  SELECT n.text AS name, count(*) AS kernels, sum(k.duration_ns) AS total_ns, min(k.duration_ns) AS min_ns,
    max(k.duration_ns) AS max_ns, avg(k.duration_ns) AS mean_ns
  FROM kernel_rows k JOIN names n ON n.id = k.name
  WHERE k.run IN (SELECT id FROM runs WHERE has_timeline = (SELECT max(has_timeline) FROM runs))
  GROUP BY n.text ORDER BY total_ns DESC, n.text;
CREATE VIEW IF NOT EXISTS time_by_op AS
  SELECT coalesce(n.text, '(no op)') AS name, count(*) AS kernels, sum(k.duration_ns) AS total_ns
  FROM kernel_rows k LEFT JOIN op_rows o ON o.id = k.op LEFT JOIN names n ON n.id = o.name
  WHERE k.run IN (SELECT id FROM runs WHERE has_timeline = (SELECT max(has_timeline) FROM runs))
  GROUP BY 1 ORDER BY total_ns DESC, 1;
CREATE VIEW IF NOT EXISTS unlinked_kernels AS
  SELECT * FROM kernels WHERE launch IS NULL;
CREATE VIEW IF NOT EXISTS launch_delays AS
  SELECT k.id AS kernel, k.start_ns - l.start_ns AS delay_ns, k.start_ns - l.start_ns - l.duration_ns AS queued_ns
  FROM kernel_rows k JOIN launch_rows l ON l.id = k.launch;
)sql";

}  // namespace

std::string_view dataset_tables() {
  return kTables;
}
std::string_view dataset_views() {
  return kViews;
}

bool is_dataset(const std::string& path) {
  auto database = Database::open_read_only(path);
  if (!database) {
    return false;
  }
  Statement id = (*database)->prepare("PRAGMA application_id");
  return id.step() && id.integer(0) == kApplication;
}

Result<std::unique_ptr<Database>> open_dataset(const std::string& path) {
  auto database = Database::open_read_only(path);
  if (!database) {
    return database;
  }
  Statement id = (*database)->prepare("PRAGMA application_id");
  if (!id.step() || id.integer(0) != kApplication) {
    return failure("dataset-open", fmt::format("'{}' is no dataset of mansard", path), {},
                   "make one with mansard trace import FILE... -o DB");
  }
  Statement version = (*database)->prepare("PRAGMA user_version");
  if (!version.step() || version.integer(0) != kDatasetVersion) {
    return failure("dataset-version",
                   fmt::format("'{}' is a dataset of version {}, this program reads version {}",
                               path, version.integer(0), kDatasetVersion));
  }
  return database;
}

}  // namespace mansard::traces
