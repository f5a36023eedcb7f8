#include "model/project/replay.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace mansard::model {
namespace {

/// An activity that starts this soon after another stream's has ended is taken to have waited for
/// it.
constexpr std::int64_t kHandOver = 20'000;

/// Whatever happens at one time: a call starts, a call ends, an activity starts.
struct Step {
  std::int64_t time = 0;
  enum class What { kCallBegin, kCallEnd, kActivity } what = What::kCallBegin;
  std::size_t index = 0;
};

/// Replays one run: steps in the order of the trace, so that whatever a step waits for is done.
class Replay {
 public:
  Replay(const ir::Timeline& old, const std::vector<std::int64_t>& durations,
         const ReplayOptions& options)
      : old_(old), durations_(durations), scale_(options.host_scale), now_(old) {}

  ir::Timeline run() {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < old_.activities.size(); ++i) {
      steps.push_back({old_.activities[i].start_ns, Step::What::kActivity, i});
    }
    for (std::size_t i = 0; i < old_.calls.size(); ++i) {
      const ir::HostCall& call = old_.calls[i];
      steps.push_back({call.start_ns, Step::What::kCallBegin, i});
      if (call.waits) {  // What it waited for has its place by the time it ends.
        steps.push_back({call.end_ns(), Step::What::kCallEnd, i});
      }
    }
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      return std::tuple(a.time, a.what, a.index) < std::tuple(b.time, b.what, b.index);
    });
    for (const Step& step : steps) {
      switch (step.what) {
        case Step::What::kCallBegin:
          begin_call(step.index);
          break;
        case Step::What::kCallEnd:
          end_waiting_call(step.index);
          break;
        case Step::What::kActivity:
          activity(step.index);
          break;
      }
    }
    return std::move(now_);
  }

 private:
  [[nodiscard]] std::int64_t scaled(std::int64_t time) const {
    return std::llround(static_cast<double>(time) * scale_);
  }

  void begin_call(std::size_t i) {
    const ir::HostCall& was = old_.calls[i];
    ir::HostCall& is = now_.calls[i];
    const auto thread = std::tuple(was.run, was.process, was.thread);
    if (const auto before = last_call_.find(thread); before != last_call_.end()) {
      const std::int64_t own = was.start_ns - old_.calls[before->second].end_ns();
      is.start_ns = now_.calls[before->second].end_ns() + scaled(own);
    }
    is.duration_ns = scaled(was.duration_ns);
    last_call_[thread] = i;
  }

  void end_waiting_call(std::size_t i) {
    const ir::HostCall& was = old_.calls[i];
    ir::HostCall& is = now_.calls[i];
    const auto done = last_done_.find(was.run);
    if (done != last_done_.end() && old_.activities[done->second].end_ns() > was.start_ns &&
        old_.activities[done->second].end_ns() <= was.end_ns()) {
      const std::int64_t after = was.end_ns() - old_.activities[done->second].end_ns();
      const std::int64_t end = now_.activities[done->second].end_ns() + scaled(after);
      is.duration_ns = std::max<std::int64_t>(0, end - is.start_ns);
    }
  }

  /// Two times of one cause: in the trace, and now.
  struct Ready {
    std::int64_t old = 0;
    std::int64_t now = 0;
  };

  void activity(std::size_t i) {
    const ir::Activity& was = old_.activities[i];
    ir::Activity& is = now_.activities[i];
    std::optional<Ready> ready;
    const auto add = [&](std::int64_t old, std::int64_t now) {
      ready = ready ? Ready{std::max(ready->old, old), std::max(ready->now, now)} : Ready{old, now};
    };
    const auto stream = std::tuple(was.run, was.device, was.stream);
    const auto before = last_on_stream_.find(stream);
    if (before != last_on_stream_.end()) {
      add(old_.activities[before->second].end_ns(), now_.activities[before->second].end_ns());
    }
    if (was.call) {
      add(old_.calls[*was.call].start_ns, now_.calls[*was.call].start_ns);
    }
    if (const auto other = awaited(was, stream, ready)) {
      add(old_.activities[*other].end_ns(), now_.activities[*other].end_ns());
    }
    // Clocks of host and device differ a little: an activity may seem to precede its launch.
    is.start_ns = ready ? ready->now + (was.start_ns - ready->old) : was.start_ns;
    is.duration_ns = durations_[i];
    last_on_stream_[stream] = i;
    const auto done = last_done_.find(was.run);
    if (done == last_done_.end() || old_.activities[done->second].end_ns() < was.end_ns()) {
      last_done_[was.run] = i;
    }
  }

  using Stream = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

  /// The activity of another stream of the run that ended last before this one started, if nothing
  /// else explains why it started then.
  [[nodiscard]] std::optional<std::size_t> awaited(const ir::Activity& was, const Stream& stream,
                                                   const std::optional<Ready>& ready) const {
    std::optional<std::size_t> latest;
    for (const auto& [other, index] : last_on_stream_) {
      const std::int64_t end = old_.activities[index].end_ns();
      const bool recent = end <= was.start_ns && was.start_ns - end <= kHandOver;
      if (std::get<0>(other) == std::get<0>(stream) && other != stream && recent &&
          (!ready || end > ready->old) && (!latest || end > old_.activities[*latest].end_ns())) {
        latest = index;
      }
    }
    return latest;
  }

  const ir::Timeline& old_;
  const std::vector<std::int64_t>& durations_;
  double scale_;
  ir::Timeline now_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::size_t> last_call_;
  std::map<Stream, std::size_t> last_on_stream_;
  std::map<std::int64_t, std::size_t> last_done_;
};

}  // namespace

ProjectedTime project_time(double measured, const ModelTimes& from, const ModelTimes& to) {
  const double seconds = std::max(to.bound, measured * to.estimate / from.estimate);
  return {.seconds = seconds,
          .low = std::max(to.bound, seconds * to.low / to.estimate),
          .high = seconds * to.high / to.estimate};
}

ir::Timeline replay(const ir::Timeline& timeline, const std::vector<std::int64_t>& durations,
                    const ReplayOptions& options) {
  return Replay(timeline, durations, options).run();
}

}  // namespace mansard::model
