#include "model/project/replay.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>
#include <optional>

#include "ir/algorithms.hpp"
#include "model/project/dependencies.hpp"

namespace mansard::model {
namespace {

using Vertex = Moments::Vertex;

constexpr std::size_t kCauses = 9;

/// Plays the graph of dependencies.
class Player {
 public:
  Player(const ir::Timeline& old, const std::vector<std::int64_t>& durations,
         const ReplayOptions& options)
      : old_(old), durations_(durations), options_(options), moments_(old) {}

  Replayed play() {
    order_dependencies();
    sort_by_target();
    usual_lags();
    now_.resize(moments_.count());
    for (const Vertex v : order_) {
      now_[v] = time_of(v);
    }
    return {.timeline = timeline(), .path = path()};
  }

 private:
  [[nodiscard]] std::int64_t was(Vertex v) const {
    const std::size_t i = moments_.index(v);
    if (moments_.of_call(v)) {
      return moments_.is_end(v) ? old_.calls[i].end_ns() : old_.calls[i].start_ns;
    }
    return moments_.is_end(v) ? old_.activities[i].end_ns() : old_.activities[i].start_ns;
  }

  /// Drops dependencies that contradict the times of the trace where not all can hold: the clocks
  /// of host and device differ a little, and links may be wrong.
  void order_dependencies() {
    dependencies_ = dependencies(old_, options_);
    for (const int strictness : {0, 1, 2}) {
      std::erase_if(dependencies_, [&](const Dependency& d) {
        const bool structural =
            d.cause == Cause::kActivity || d.cause == Cause::kCall ||
            (strictness == 2 && (d.cause == Cause::kStream || d.cause == Cause::kHost));
        return !structural && ((strictness == 1 && was(d.from) > was(d.to)) ||
                               (strictness == 2 && was(d.from) >= was(d.to)));
      });
      std::vector<ir::VertexEdge> edges;
      edges.reserve(dependencies_.size());
      for (const Dependency& d : dependencies_) {
        edges.emplace_back(d.from, d.to);
      }
      if (auto order = ir::topological_order(moments_.count(), edges)) {
        order_ = std::move(*order);
        return;
      }
    }
    assert(false && "what goes forward in time does not run in a circle");
  }

  void sort_by_target() {
    std::sort(dependencies_.begin(), dependencies_.end(),
              [](const Dependency& a, const Dependency& b) {
                return std::pair(a.to, a.from) < std::pair(b.to, b.from);
              });
    first_.assign(moments_.count() + 1, 0);
    for (const Dependency& d : dependencies_) {
      ++first_[d.to + 1];
    }
    for (std::size_t v = 0; v < moments_.count(); ++v) {
      first_[v + 1] += first_[v];
    }
  }

  /// What a launch takes to reach a device that waits for it, and how soon a queued activity
  /// follows the one before: medians of the trace.
  void usual_lags() {
    std::array<std::vector<std::int64_t>, kCauses> lags;
    for (std::size_t i = 0; i < old_.activities.size(); ++i) {
      const Vertex v = moments_.start(i);
      const Dependency* last = nullptr;
      for (std::size_t d = first_[v]; d < first_[v + 1]; ++d) {
        if (last == nullptr || was(dependencies_[d].from) > was(last->from)) {
          last = &dependencies_[d];
        }
      }
      if (last != nullptr && was(last->from) <= was(v)) {
        lags[static_cast<std::size_t>(last->cause)].push_back(was(v) - was(last->from));
      }
    }
    for (const Cause cause : {Cause::kLaunch, Cause::kStream, Cause::kWait}) {
      auto& seen = lags[static_cast<std::size_t>(cause)];
      if (!seen.empty()) {
        const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
        std::nth_element(seen.begin(), middle, seen.end());
        lag_[static_cast<std::size_t>(cause)] = *middle;
      }
    }
  }

  [[nodiscard]] std::int64_t lag(const Dependency& d) const {
    return lag_[static_cast<std::size_t>(d.cause)];
  }
  [[nodiscard]] std::int64_t scaled(std::int64_t time) const {
    return std::llround(static_cast<double>(time) * options_.host_scale);
  }

  [[nodiscard]] std::int64_t time_of(Vertex v) const {
    if (first_[v] == first_[v + 1]) {
      return was(v);
    }
    std::int64_t then = INT64_MIN;
    std::int64_t now = INT64_MIN;
    std::int64_t earliest = INT64_MIN;  // Lags shorter than usual do not undo the order.
    for (std::size_t i = first_[v]; i < first_[v + 1]; ++i) {
      const Dependency& d = dependencies_[i];
      then = std::max(then, was(d.from) + lag(d));
      now = std::max(now, now_[d.from] + lag(d));
      earliest = was(d.from) <= was(v) ? std::max(earliest, now_[d.from]) : earliest;
    }
    if (moments_.of_call(v)) {
      return std::max(earliest, now + scaled(was(v) - then));
    }
    return moments_.is_end(v) ? now + durations_[moments_.index(v)]
                              : std::max(earliest, now + was(v) - then);
  }

  [[nodiscard]] ir::Timeline timeline() const {
    ir::Timeline result = old_;
    for (std::size_t i = 0; i < result.calls.size(); ++i) {
      result.calls[i].start_ns = now_[moments_.call_start(i)];
      result.calls[i].duration_ns =
          std::max<std::int64_t>(0, now_[moments_.call_end(i)] - now_[moments_.call_start(i)]);
    }
    for (std::size_t i = 0; i < result.activities.size(); ++i) {
      result.activities[i].start_ns = now_[moments_.start(i)];
      result.activities[i].duration_ns = durations_[i];
    }
    return result;
  }

  [[nodiscard]] std::vector<PathStep> path() const {
    struct Ends {
      std::int64_t first = 0;
      Vertex last = 0;
    };
    std::map<std::int64_t, Ends> runs;
    for (std::size_t i = 0; i < old_.activities.size(); ++i) {
      const Ends both{now_[moments_.start(i)], moments_.end(i)};
      auto [found, fresh] = runs.try_emplace(old_.activities[i].run, both);
      found->second.first = std::min(found->second.first, both.first);
      if (!fresh && now_[both.last] > now_[found->second.last]) {
        found->second.last = both.last;
      }
    }
    std::vector<PathStep> result;
    for (const auto& [run, ends] : runs) {
      const std::size_t before = result.size();
      for (Vertex v = ends.last; first_[v] != first_[v + 1] && now_[v] > ends.first;) {
        const Dependency& d = binding(v);
        const std::int64_t since = std::max(now_[d.from], ends.first);
        result.push_back({d.cause, moments_.index(v), now_[v] - since});
        v = d.from;
      }
      std::reverse(result.begin() + static_cast<std::ptrdiff_t>(before), result.end());
    }
    return result;
  }

  [[nodiscard]] const Dependency& binding(Vertex v) const {
    return *std::max_element(dependencies_.begin() + static_cast<std::ptrdiff_t>(first_[v]),
                             dependencies_.begin() + static_cast<std::ptrdiff_t>(first_[v + 1]),
                             [this](const Dependency& a, const Dependency& b) {
                               return now_[a.from] + lag(a) < now_[b.from] + lag(b);
                             });
  }

  const ir::Timeline& old_;
  const std::vector<std::int64_t>& durations_;
  const ReplayOptions& options_;
  Moments moments_;
  std::vector<Dependency> dependencies_;  ///< By target.
  std::vector<std::size_t> first_;        ///< Of each vertex, in `dependencies_`.
  std::vector<Vertex> order_;
  std::vector<std::int64_t> now_;
  std::array<std::int64_t, kCauses> lag_{};
};

}  // namespace

std::string_view name_of(Cause cause) {
  constexpr std::array<std::string_view, kCauses> kNames{
      "kernels and copies",    "calls of the host",  "host between calls",
      "from thread to thread", "launches under way", "gaps between kernels",
      "from stream to stream", "return to the host", "launch queue full"};
  return kNames[static_cast<std::size_t>(cause)];
}

ProjectedTime project_time(double measured, const ModelTimes& from, const ModelTimes& to) {
  const double seconds = std::max(to.bound, measured * to.estimate / from.estimate);
  return {.seconds = seconds,
          .low = std::max(to.bound, seconds * to.low / to.estimate),
          .high = seconds * to.high / to.estimate};
}

Replayed replay(const ir::Timeline& timeline, const std::vector<std::int64_t>& durations,
                const ReplayOptions& options) {
  return Player(timeline, durations, options).play();
}

}  // namespace mansard::model
