#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "traces/dataset/link.hpp"

namespace mansard::traces {
namespace {

/// Launches of one key are the same work: short name, grid, block.
using Key = std::size_t;

struct Launch {
  std::int64_t id = 0;
  Key key = 0;
};
using Launches = std::vector<Launch>;

/// Places of a launch in a timeline and of its counters.
struct Match {
  std::size_t timed = 0;
  std::size_t counted = 0;
  bool verified = true;
};

/// Launches of the runs that have a timeline, or of those that have none, in their order.
std::map<std::int64_t, Launches> launches_of(Database& db, bool timed,
                                             std::map<std::string, Key>& keys) {
  Statement rows = db.prepare(
      "SELECT k.run, k.id, coalesce(s.text, n.text), k.grid_x, k.grid_y, k.grid_z, k.block_x, "
      "k.block_y, k.block_z FROM kernel_rows k JOIN runs r ON r.id = k.run JOIN names n ON n.id = "
      "k.name LEFT JOIN names s ON s.id = n.short LEFT JOIN launch_rows l ON l.id = k.launch WHERE "
      "r.has_timeline = ?1 ORDER BY k.run, coalesce(l.start_ns, k.start_ns), k.start_ns, k.id");
  std::map<std::int64_t, Launches> result;
  for (rows.bind(timed ? 1 : 0); rows.step();) {
    std::string text(rows.text(2));
    for (int column = 3; column < 9; ++column) {
      text += fmt::format("\n{}", rows.integer(column));
    }
    const Key key = keys.try_emplace(std::move(text), keys.size()).first->second;
    result[rows.integer(0)].push_back({rows.integer(1), key});
  }
  return result;
}

/// Of a run of which a part was profiled: its launches follow each other in the timeline as they do
/// in the counters. Taken where they do so first.
std::vector<Match> match_window(const Launches& timed, const Launches& counted) {
  const auto found = std::search(timed.begin(), timed.end(), counted.begin(), counted.end(),
                                 [](const Launch& a, const Launch& b) { return a.key == b.key; });
  std::vector<Match> result;
  if (found == timed.end()) {
    return result;
  }
  const auto first = static_cast<std::size_t>(found - timed.begin());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    result.push_back({first + i, i});
  }
  return result;
}

std::map<Key, std::vector<std::size_t>> by_key(const Launches& launches) {
  std::map<Key, std::vector<std::size_t>> result;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    result[launches[i].key].push_back(i);
  }
  return result;
}

/// The n-th of a key to the n-th, of keys that occur equally often.
std::vector<Match> match_counts(const Launches& timed, const Launches& counted) {
  std::vector<Match> result;
  const auto other = by_key(counted);
  for (const auto& [key, places] : by_key(timed)) {
    const auto found = other.find(key);
    if (found == other.end() || found->second.size() != places.size()) {
      continue;
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      result.push_back({places[i], found->second[i]});
    }
  }
  std::sort(result.begin(), result.end(),
            [](const Match& a, const Match& b) { return a.timed < b.timed; });
  return result;
}

/// Matches that keep the order of the timeline (the most that can, at once) are verified by it.
void verify_order(std::vector<Match>& matches) {
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> ends;  // Of the best rising row of each length.
  std::vector<std::size_t> before(matches.size(), kNone);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto place = std::lower_bound(
        ends.begin(), ends.end(), matches[i].counted,
        [&](std::size_t end, std::size_t counted) { return matches[end].counted < counted; });
    before[i] = place == ends.begin() ? kNone : *(place - 1);
    if (place == ends.end()) {
      ends.push_back(i);
    } else {
      *place = i;
    }
    matches[i].verified = false;
  }
  for (std::size_t i = ends.empty() ? kNone : ends.back(); i != kNone; i = before[i]) {
    matches[i].verified = true;
  }
}

std::vector<Match> match(const Launches& timed, const Launches& counted) {
  std::vector<Match> result = match_counts(timed, counted);
  if (result.size() < counted.size()) {
    std::vector<Match> window = match_window(timed, counted);
    if (!window.empty()) {
      return window;
    }
  }
  verify_order(result);
  return result;
}

}  // namespace

void combine_runs(Database& database) {
  std::map<std::string, Key> keys;
  const auto counted = launches_of(database, false, keys);
  if (counted.empty()) {
    return;
  }
  const auto timed = launches_of(database, true, keys);
  Statement insert = database.prepare("INSERT INTO matches VALUES(?,?,?)");
  for (const auto& [timed_run, timed_launches] : timed) {
    for (const auto& [counted_run, counted_launches] : counted) {
      for (const Match& m : match(timed_launches, counted_launches)) {
        insert.run(timed_launches[m.timed].id, counted_launches[m.counted].id, m.verified ? 1 : 0);
      }
    }
  }
}

}  // namespace mansard::traces
