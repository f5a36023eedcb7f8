#include "traces/analysis/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "traces/analysis/occupancy.hpp"

namespace mansard::traces {
namespace {

/// Of what a dataset tells times: the timeline, or counters alone where there is none.
constexpr std::string_view kTimed =
    "run IN (SELECT id FROM runs WHERE has_timeline = (SELECT max(has_timeline) FROM runs))";

std::int64_t whole(Database& db, std::string_view sql) {
  Statement row = db.prepare(sql);
  return row.step() ? row.integer(0) : 0;
}

/// A union of intervals that come in the order of their starts.
class Union {
 public:
  /// Returns how long nothing had been running before; 0 for the first.
  std::int64_t add(std::int64_t start, std::int64_t end) {
    if (empty_) {
      empty_ = false;
      first_ = start;
      end_ = start;
    }
    const std::int64_t gap = std::max<std::int64_t>(0, start - end_);
    covered_ += std::max<std::int64_t>(0, end - std::max(start, end_));
    end_ = std::max(end_, end);
    return gap;
  }
  [[nodiscard]] std::int64_t covered() const { return covered_; }
  [[nodiscard]] std::int64_t span() const { return end_ - first_; }
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  bool empty_ = true;
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
  std::int64_t covered_ = 0;
};

void add_runs(Database& db, Summary& summary) {
  Statement rows = db.prepare(
      "SELECT id, file, format, producer, rank, clocks_locked, has_timeline, coalesce(broken, ''), "
      "(SELECT count(*) FROM kernel_rows k WHERE k.run = r.id) FROM runs r ORDER BY id");
  while (rows.step()) {
    RunRow run{.id = rows.integer(0),
               .file = std::string(rows.text(1)),
               .format = std::string(rows.text(2)),
               .producer = std::string(rows.text(3))};
    run.rank = rows.is_null(4) ? std::nullopt : std::optional(rows.integer(4));
    run.clocks_locked = rows.integer(5) != 0;
    run.has_timeline = rows.integer(6) != 0;
    run.broken = rows.text(7);
    run.kernels = rows.integer(8);
    summary.runs.push_back(std::move(run));
  }
}

void add_counts(Database& db, Summary& s) {
  Statement row = db.prepare(
      fmt::format("SELECT count(*), coalesce(sum(duration_ns), 0), count(launch), count(op) FROM "
                  "kernel_rows WHERE {}",
                  kTimed));
  if (row.step()) {
    s.kernels = row.integer(0);
    s.kernel_time_ns = row.integer(1);
    s.linked = row.integer(2);
    s.unlinked = s.kernels - s.linked;
    s.in_op = row.integer(3);
  }
  Statement copies = db.prepare(
      "SELECT count(*), coalesce(sum(duration_ns), 0), coalesce(sum(bytes), 0) FROM transfer_rows "
      "WHERE kind = 'copy'");
  if (copies.step()) {
    s.copies = copies.integer(0);
    s.copy_time_ns = copies.integer(1);
    s.copy_bytes = copies.integer(2);
  }
  s.memsets = whole(db, "SELECT count(*) FROM transfer_rows WHERE kind = 'memset'");
  s.synchronisations =
      whole(db, "SELECT count(*) FROM transfer_rows WHERE kind = 'synchronisation'");
  s.launches = whole(db, "SELECT count(*) FROM launch_rows");
  s.ops = whole(db, "SELECT count(*) FROM op_rows");
  s.matched = whole(db, "SELECT count(DISTINCT counter_kernel) FROM matches");
  s.counter_kernels = whole(
      db,
      "SELECT count(*) FROM kernel_rows k JOIN runs r ON r.id = k.run WHERE r.has_timeline = 0");
}

/// What was waited for in a gap that ended at `start`.
void add_gap(IdleTime& idle, std::int64_t gap, std::int64_t start,
             std::optional<std::int64_t> launched) {
  ++idle.gaps;
  idle.total_ns += gap;
  idle.longest_ns = std::max(idle.longest_ns, gap);
  if (!launched) {
    idle.unknown_ns += gap;
    return;
  }
  const std::int64_t host = std::clamp<std::int64_t>(*launched - (start - gap), 0, gap);
  idle.host_ns += host;
  idle.latency_ns += gap - host;
}

void add_times(Database& db, Summary& s) {
  Statement rows = db.prepare(
      "SELECT k.run, k.start_ns, k.start_ns + k.duration_ns, 1, k.device, k.stream, "
      "(SELECT l.start_ns FROM launch_rows l WHERE l.id = k.launch) "
      "FROM kernel_rows k JOIN runs r ON r.id = k.run WHERE r.has_timeline = 1 UNION ALL "
      "SELECT t.run, t.start_ns, t.start_ns + t.duration_ns, 0, t.device, t.stream, "
      "(SELECT l.start_ns FROM launch_rows l WHERE l.id = t.launch) "
      "FROM transfer_rows t WHERE t.kind IN ('copy', 'memset') ORDER BY 1, 2, 3");
  struct Times {
    Union kernels;
    Union device;
  };
  std::map<std::int64_t, Times> by_run;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::pair<std::int64_t, Union>>
      streams;
  while (rows.step()) {
    Times& times = by_run[rows.integer(0)];
    const std::int64_t start = rows.integer(1);
    const std::int64_t end = rows.integer(2);
    const bool kernel = rows.integer(3) != 0;
    if (kernel) {
      times.kernels.add(start, end);
    }
    if (const std::int64_t gap = times.device.add(start, end); gap > 0) {
      add_gap(s.idle, gap, start, rows.is_null(6) ? std::nullopt : std::optional(rows.integer(6)));
    }
    auto& [kernels, busy] = streams[{rows.integer(0), rows.integer(4), rows.integer(5)}];
    kernels += kernel ? 1 : 0;
    busy.add(start, end);
  }
  for (const auto& [run, times] : by_run) {
    s.kernel_busy_ns += times.kernels.covered();
    s.device_busy_ns += times.device.covered();
    s.span_ns += times.device.span();
  }
  for (const auto& [key, value] : streams) {
    s.streams.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), value.first,
                         value.second.covered()});
  }
  // Kernels that were profiled one by one ran one after another.
  const std::int64_t alone = whole(
      db,
      "SELECT coalesce(sum(duration_ns), 0) FROM kernel_rows WHERE (SELECT max(has_timeline) FROM "
      "runs) = 0");
  s.kernel_busy_ns += alone;
  s.device_busy_ns += alone;
}

/// Sums over the shapes in which a kernel was launched, weighted by time.
struct Weighted {
  TimeRow row;
  double time = 0;
  double occupancy = 0;
  double waves = 0;
  double tail = 0;
};

void add_by_kernel(Database& db, Summary& s) {
  std::map<std::pair<std::int64_t, std::int64_t>, ir::TraceDevice> devices;
  Statement device_rows = db.prepare(
      "SELECT run, device, sm_count, warp_size, registers_per_sm, shared_per_sm, threads_per_sm, "
      "compute_capability FROM devices");
  while (device_rows.step()) {
    ir::TraceDevice d{.id = device_rows.integer(1), .sm_count = device_rows.integer(2)};
    d.warp_size = device_rows.integer(3);
    d.registers_per_sm = device_rows.integer(4);
    d.shared_per_sm = device_rows.integer(5);
    d.threads_per_sm = device_rows.integer(6);
    const std::string_view capability = device_rows.text(7);
    if (capability.size() >= 3) {
      d.compute_major = capability.front() - '0';
      d.compute_minor = capability.back() - '0';
    }
    devices[{device_rows.integer(0), d.id}] = d;
  }
  Statement rows = db.prepare(fmt::format(
      "SELECT n.text, coalesce(s.text, n.text), k.run, k.device, grid_x, grid_y, grid_z, block_x, "
      "block_y, block_z, registers, shared_static, shared_dynamic, count(*), sum(duration_ns), "
      "min(duration_ns), max(duration_ns) FROM kernel_rows k JOIN names n ON n.id = k.name LEFT "
      "JOIN names s ON s.id = n.short WHERE {} GROUP BY 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 "
      "ORDER BY 1",
      kTimed));
  std::vector<Weighted> names;
  while (rows.step()) {
    if (names.empty() || names.back().row.name != rows.text(0)) {
      names.push_back({.row = {.name = std::string(rows.text(0)),
                               .short_name = std::string(rows.text(1)),
                               .least_ns = rows.integer(15)}});
    }
    Weighted& w = names.back();
    w.row.kernels += rows.integer(13);
    w.row.total_ns += rows.integer(14);
    w.row.least_ns = std::min(w.row.least_ns, rows.integer(15));
    w.row.most_ns = std::max(w.row.most_ns, rows.integer(16));
    const auto device = devices.find({rows.integer(2), rows.integer(3)});
    if (device == devices.end()) {
      continue;
    }
    ir::TraceEvent kernel;
    kernel.grid = {rows.integer(4), rows.integer(5), rows.integer(6)};
    kernel.block = {rows.integer(7), rows.integer(8), rows.integer(9)};
    kernel.registers = rows.integer(10);
    kernel.shared_static = rows.integer(11);
    kernel.shared_dynamic = rows.integer(12);
    if (const auto o = occupancy(device->second, kernel)) {
      const auto time = static_cast<double>(rows.integer(14));
      w.time += time;
      w.occupancy += time * o->share;
      w.waves += time * o->waves;
      w.tail += time * (1 - o->last_wave) / std::max(1.0, std::ceil(o->waves));
    }
  }
  for (Weighted& w : names) {
    if (w.time > 0) {
      w.row.occupancy = w.occupancy / w.time;
      w.row.waves = w.waves / w.time;
      w.row.tail = w.tail / w.time;
    }
    s.by_kernel.push_back(std::move(w.row));
  }
  std::sort(s.by_kernel.begin(), s.by_kernel.end(), [](const TimeRow& a, const TimeRow& b) {
    return std::tie(b.total_ns, a.name) < std::tie(a.total_ns, b.name);
  });
}

void add_by_op(Database& db, Summary& s) {
  Statement rows = db.prepare(fmt::format(
      "SELECT coalesce(n.text, '(no op)'), count(*), sum(k.duration_ns), min(k.duration_ns), "
      "max(k.duration_ns) FROM kernel_rows k LEFT JOIN op_rows o ON o.id = k.op LEFT JOIN names n "
      "ON n.id = o.name WHERE k.{} GROUP BY 1 ORDER BY 3 DESC, 1",
      kTimed));
  while (rows.step()) {
    s.by_op.push_back({.name = std::string(rows.text(0)),
                       .kernels = rows.integer(1),
                       .total_ns = rows.integer(2),
                       .least_ns = rows.integer(3),
                       .most_ns = rows.integer(4)});
  }
}

}  // namespace

std::vector<ir::TraceDevice> devices_of(Database& db) {
  Statement rows = db.prepare(
      "SELECT device, name, sm_count, memory_bytes, bandwidth, clock_hz, compute_capability FROM "
      "devices WHERE name <> '' GROUP BY name ORDER BY run, device");
  std::vector<ir::TraceDevice> result;
  while (rows.step()) {
    ir::TraceDevice d{.id = rows.integer(0), .name = std::string(rows.text(1))};
    d.sm_count = rows.integer(2);
    d.memory_bytes = rows.integer(3);
    d.bandwidth = rows.integer(4);
    d.clock_hz = rows.integer(5);
    result.push_back(std::move(d));
  }
  return result;
}

Result<Summary> summarise(Database& db) {
  Summary summary;
  add_runs(db, summary);
  summary.devices = devices_of(db);
  add_counts(db, summary);
  add_times(db, summary);
  add_by_kernel(db, summary);
  add_by_op(db, summary);
  if (const auto status = db.status(); !status) {
    return failure(status.error());
  }
  return summary;
}

}  // namespace mansard::traces
