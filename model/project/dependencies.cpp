#include "model/project/dependencies.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

namespace mansard::model {
namespace {

/// An activity that starts this soon after another stream's has ended is taken to have waited for
/// it.
constexpr std::int64_t kHandOver = 20'000;
/// A thread that made no call for this long is taken to have waited for another.
constexpr std::int64_t kIdleThread = 100'000;

/// (run, device, stream).
using Stream = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
using Process = std::pair<std::int64_t, std::int64_t>;

/// A call that polls or reads hands nothing on.
bool is_query(std::string_view name) {
  return name.find("Query") != std::string_view::npos ||
         name.find("Get") != std::string_view::npos || name.find("Is") != std::string_view::npos;
}

class Builder {
 public:
  Builder(const ir::Timeline& timeline, const ReplayOptions& options)
      : timeline_(timeline), options_(options), moments_(timeline) {}

  std::vector<Dependency> build() {
    durations();
    threads();
    streams();
    for (const ir::Wait& wait : timeline_.waits) {
      seen_.insert(wait.run);
    }
    seen_waits();
    if (!timeline_.activities.empty()) {
      guessed_stream_waits();
      guessed_host_waits();
    }
    return std::move(result_);
  }

 private:
  const std::vector<ir::HostCall>& calls() const { return timeline_.calls; }
  const std::vector<ir::Activity>& activities() const { return timeline_.activities; }
  static Stream stream_of(const ir::Activity& a) { return {a.run, a.device, a.stream}; }

  void add(Moments::Vertex from, Moments::Vertex to, Cause cause) {
    result_.push_back({from, to, cause});
  }

  void durations() {
    for (std::size_t i = 0; i < calls().size(); ++i) {
      add(moments_.call_start(i), moments_.call_end(i), Cause::kCall);
    }
    for (std::size_t i = 0; i < activities().size(); ++i) {
      add(moments_.start(i), moments_.end(i), Cause::kActivity);
    }
  }

  /// Calls of a thread follow each other; one after a long rest follows another thread's too.
  void threads() {
    std::map<Process, std::vector<std::size_t>> by_end;
    for (std::size_t i = 0; i < calls().size(); ++i) {
      if (!is_query(calls()[i].name)) {
        by_end[{calls()[i].run, calls()[i].process}].push_back(i);
      }
    }
    for (auto& [process, ends] : by_end) {
      std::sort(ends.begin(), ends.end(), [this](std::size_t a, std::size_t b) {
        return std::pair(calls()[a].end_ns(), a) < std::pair(calls()[b].end_ns(), b);
      });
    }
    for (std::size_t i = 0; i < calls().size(); ++i) {
      const ir::HostCall& call = calls()[i];
      const bool follows = i > 0 && same_thread(calls()[i - 1], call);
      if (follows) {
        add(moments_.call_end(i - 1), moments_.call_start(i), Cause::kHost);
      }
      if (follows && call.start_ns - calls()[i - 1].end_ns() < kIdleThread) {
        continue;
      }
      const auto& ends = by_end[{call.run, call.process}];
      auto last = std::upper_bound(
          ends.begin(), ends.end(), call.start_ns,
          [this](std::int64_t time, std::size_t other) { return time < calls()[other].end_ns(); });
      if (last != ends.begin() && !same_thread(calls()[*--last], call)) {
        add(moments_.call_end(*last), moments_.call_start(i), Cause::kThread);
      }
    }
  }
  static bool same_thread(const ir::HostCall& a, const ir::HostCall& b) {
    return std::tie(a.run, a.process, a.thread) == std::tie(b.run, b.process, b.thread);
  }

  void streams() {
    for (std::size_t i = 0; i < activities().size(); ++i) {
      const ir::Activity& a = activities()[i];
      std::vector<std::size_t>& before = streams_[stream_of(a)];
      if (!before.empty()) {
        add(moments_.end(before.back()), moments_.start(i), Cause::kStream);
      }
      if (a.call) {
        add(moments_.call_start(*a.call), moments_.start(i), Cause::kLaunch);
        // Many kernels of one launch (a graph) take one place in the queue.
        const bool alone = before.empty() || activities()[before.back()].call != a.call;
        if (options_.queue > 0 && before.size() >= options_.queue && alone) {
          add(moments_.start(before[before.size() - options_.queue]), moments_.call_end(*a.call),
              Cause::kQueue);
        }
      }
      before.push_back(i);
    }
  }

  [[nodiscard]] std::int64_t launched(std::size_t activity) const {
    const ir::Activity& a = activities()[activity];
    return a.call ? calls()[*a.call].start_ns : a.start_ns;
  }
  /// The first of a stream's activities that was launched at `time` or later.
  [[nodiscard]] std::size_t first_launched(const std::vector<std::size_t>& stream,
                                           std::int64_t time) const {
    const auto found = std::partition_point(
        stream.begin(), stream.end(), [&](std::size_t other) { return launched(other) < time; });
    return static_cast<std::size_t>(found - stream.begin());
  }

  void seen_waits() {
    for (const ir::Wait& wait : timeline_.waits) {
      const std::int64_t asked = calls()[wait.call].start_ns;
      const std::int64_t before = wait.recorded ? calls()[*wait.recorded].start_ns : asked;
      for (const auto& [stream, awaited] : streams_) {
        const bool right = std::get<0>(stream) == wait.run && std::get<1>(stream) == wait.device &&
                           (!wait.awaited_stream || std::get<2>(stream) == *wait.awaited_stream);
        const std::size_t last = right ? first_launched(awaited, before) : 0;
        if (last == 0) {
          continue;
        }
        if (!wait.stream) {
          add(moments_.end(awaited[last - 1]), moments_.call_end(wait.call), Cause::kReturn);
          continue;
        }
        const auto own = streams_.find({wait.run, wait.device, *wait.stream});
        const std::size_t next =
            own == streams_.end() || own->first == stream ? 0 : first_launched(own->second, asked);
        if (own != streams_.end() && own->first != stream && next < own->second.size()) {
          add(moments_.end(awaited[last - 1]), moments_.start(own->second[next]), Cause::kWait);
        }
      }
    }
  }

  /// The activity of another stream that ended last before this one started, if nothing else
  /// explains why it started then.
  void guessed_stream_waits() {
    std::map<Stream, std::size_t> last;
    for (std::size_t i = 0; i < activities().size(); ++i) {
      const ir::Activity& a = activities()[i];
      const auto own = last.find(stream_of(a));
      std::int64_t ready = own == last.end() ? INT64_MIN : activities()[own->second].end_ns();
      ready = a.call ? std::max(ready, calls()[*a.call].start_ns) : ready;
      std::optional<std::size_t> awaited;
      for (const auto& [stream, other] : last) {
        const std::int64_t end = activities()[other].end_ns();
        const bool recent = end <= a.start_ns && a.start_ns - end <= kHandOver && end > ready;
        if (std::get<0>(stream) == a.run && stream != stream_of(a) && recent &&
            (!awaited || end > activities()[*awaited].end_ns())) {
          awaited = other;
        }
      }
      if (awaited && seen_.count(a.run) == 0) {
        add(moments_.end(*awaited), moments_.start(i), Cause::kWait);
      }
      last[stream_of(a)] = i;
    }
  }

  /// Calls that wait, where the profiler does not say for what: for what ended last before they
  /// returned; for all streams where they wait for the device. A copy that was done when its call
  /// returned was waited for, whatever its name.
  void guessed_host_waits() {
    std::map<std::int64_t, std::vector<std::size_t>> by_end;
    for (std::size_t i = 0; i < activities().size(); ++i) {
      by_end[activities()[i].run].push_back(i);
      const ir::Activity& a = activities()[i];
      if (a.call && a.kind != ir::TraceEventKind::kKernel &&
          a.end_ns() <= calls()[*a.call].end_ns()) {
        add(moments_.end(i), moments_.call_end(*a.call), Cause::kReturn);
      }
    }
    for (auto& [run, ends] : by_end) {
      std::sort(ends.begin(), ends.end(), [this](std::size_t a, std::size_t b) {
        return std::pair(activities()[a].end_ns(), a) < std::pair(activities()[b].end_ns(), b);
      });
    }
    for (std::size_t i = 0; i < calls().size(); ++i) {
      const ir::HostCall& call = calls()[i];
      if (!call.waits || seen_.count(call.run) > 0) {
        continue;
      }
      const auto& ends = by_end[call.run];
      auto last = std::upper_bound(ends.begin(), ends.end(), call.end_ns(),
                                   [this](std::int64_t time, std::size_t other) {
                                     return time < activities()[other].end_ns();
                                   });
      if (last != ends.begin()) {
        add(moments_.end(*--last), moments_.call_end(i), Cause::kReturn);
      }
      if (call.name.find("DeviceSynchronize") != std::string::npos ||
          call.name.find("CtxSynchronize") != std::string::npos) {
        wait_for_all(i);
      }
    }
  }

  void wait_for_all(std::size_t i) {
    const ir::HostCall& call = calls()[i];
    for (const auto& [stream, awaited] : streams_) {
      if (std::get<0>(stream) != call.run) {
        continue;
      }
      const std::size_t last = first_launched(awaited, call.start_ns);
      if (last > 0 && activities()[awaited[last - 1]].end_ns() <= call.end_ns()) {
        add(moments_.end(awaited[last - 1]), moments_.call_end(i), Cause::kReturn);
      }
    }
  }

  const ir::Timeline& timeline_;
  const ReplayOptions& options_;
  Moments moments_;
  std::map<Stream, std::vector<std::size_t>> streams_;
  std::set<std::int64_t> seen_;  ///< Runs in which the profiler saw waits.
  std::vector<Dependency> result_;
};

}  // namespace

std::vector<Dependency> dependencies(const ir::Timeline& timeline, const ReplayOptions& options) {
  return Builder(timeline, options).build();
}

}  // namespace mansard::model
