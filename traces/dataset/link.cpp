#include "traces/dataset/link.hpp"

#include <vector>

#include <fmt/format.h>

namespace mansard::traces {
namespace {

/// Every table that a launch may stand behind.
constexpr const char* kLaunched[] = {"kernel_rows", "transfer_rows"};

void link_launches(Database& db, std::int64_t run) {
  db.execute(
      "CREATE INDEX IF NOT EXISTS launches_by_correlation ON launch_rows(correlation, run, "
      "start_ns) WHERE correlation IS NOT NULL");
  constexpr const char* kSame =
      "SELECT l.id FROM launch_rows l WHERE l.correlation = k.correlation AND l.run = k.run AND "
      "(k.process IS NULL OR l.process = k.process)";
  for (const char* table : kLaunched) {
    // The clocks of host and device differ by a little, so a launch may seem to come after.
    db.prepare(fmt::format("UPDATE {0} AS k SET launch = coalesce(({1} AND l.start_ns <= "
                           "k.start_ns ORDER BY l.start_ns DESC LIMIT 1), ({1} ORDER BY l.start_ns "
                           "LIMIT 1)) WHERE run = ?1 AND correlation IS NOT NULL",
                           table, kSame))
        .run(run);
  }
}

/// Files without correlations (old AMD ones) give launches and kernels one external id.
void link_launches_by_external(Database& db, std::int64_t run) {
  Statement any = db.prepare(
      "SELECT 1 FROM kernel_rows WHERE run = ?1 AND correlation IS NULL AND external IS NOT NULL");
  if (!any.bind(run).step()) {
    return;
  }
  db.execute("CREATE INDEX IF NOT EXISTS launches_by_external ON launch_rows(external, run)");
  for (const char* table : kLaunched) {
    db.prepare(
          fmt::format("UPDATE {0} SET launch = (SELECT l.id FROM launch_rows l WHERE l.external = "
                      "{0}.external AND l.run = {0}.run AND l.start_ns <= {0}.start_ns ORDER BY "
                      "l.start_ns DESC LIMIT 1) WHERE run = ?1 AND correlation IS NULL",
                      table))
        .run(run);
  }
  db.execute("DROP INDEX launches_by_external");
}

void link_ops_by_external(Database& db, std::int64_t run) {
  db.execute(
      "CREATE INDEX IF NOT EXISTS ops_by_external ON op_rows(external, run) WHERE external IS NOT "
      "NULL");
  // Old files repeat the correlation as external id, which then names no op.
  Statement own = db.prepare(
      "SELECT 1 FROM kernel_rows WHERE run = ?1 AND external IS NOT NULL AND external IS NOT "
      "correlation UNION ALL SELECT 1 FROM transfer_rows WHERE run = ?1 AND external IS NOT NULL "
      "AND external IS NOT correlation LIMIT 1");
  const bool repeats = !own.bind(run).step();
  own.reset();
  if (repeats) {
    return;
  }
  for (const char* table : kLaunched) {
    db.prepare(fmt::format("UPDATE {0} SET op = (SELECT o.id FROM op_rows o WHERE o.external = "
                           "{0}.external AND o.run = {0}.run) WHERE run = ?1 AND external IS NOT "
                           "NULL",
                           table))
        .run(run);
  }
}

/// One op or launch of a thread, in the order of time.
struct Interval {
  std::int64_t id;
  std::int64_t end_ns;
};

/// Gives launches whose op is not known yet the innermost op around them.
void nest_launches(Database& db, std::int64_t run) {
  Statement rows = db.prepare(
      "SELECT process, thread, start_ns, duration_ns, id, 0 FROM op_rows WHERE run = ?1 "
      "UNION ALL SELECT process, thread, start_ns, duration_ns, id, 1 FROM launch_rows WHERE run = "
      "?1 AND id IN (SELECT launch FROM kernel_rows WHERE op IS NULL UNION SELECT launch FROM "
      "transfer_rows WHERE op IS NULL) ORDER BY 1, 2, 3, 6, 4 DESC");
  Statement set = db.prepare("UPDATE launch_rows SET op = ?2 WHERE id = ?1");
  std::vector<Interval> open;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  for (rows.bind(run); rows.step();) {
    if (rows.integer(0) != process || rows.integer(1) != thread) {
      open.clear();
      process = rows.integer(0);
      thread = rows.integer(1);
    }
    const std::int64_t start = rows.integer(2);
    while (!open.empty() && open.back().end_ns < start) {
      open.pop_back();
    }
    if (rows.integer(5) == 0) {
      open.push_back({rows.integer(4), start + rows.integer(3)});
    } else if (!open.empty()) {
      set.run(rows.integer(4), open.back().id);
    }
  }
}

void link_ops_by_nesting(Database& db, std::int64_t run) {
  Statement any = db.prepare(
      "SELECT 1 FROM kernel_rows WHERE run = ?1 AND op IS NULL AND launch IS NOT NULL UNION ALL "
      "SELECT 1 FROM transfer_rows WHERE run = ?1 AND op IS NULL AND launch IS NOT NULL");
  Statement ops = db.prepare("SELECT 1 FROM op_rows WHERE run = ?1");
  if (!any.bind(run).step() || !ops.bind(run).step()) {
    return;
  }
  any.reset();
  ops.reset();
  nest_launches(db, run);
  for (const char* table : kLaunched) {
    db.prepare(fmt::format("UPDATE {0} SET op = (SELECT l.op FROM launch_rows l WHERE l.id = "
                           "{0}.launch) WHERE run = ?1 AND op IS NULL AND launch IS NOT NULL",
                           table))
        .run(run);
  }
}

}  // namespace

void link_run(Database& database, std::int64_t run) {
  link_launches(database, run);
  link_launches_by_external(database, run);
  link_ops_by_external(database, run);
  link_ops_by_nesting(database, run);
}

}  // namespace mansard::traces
