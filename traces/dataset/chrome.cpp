#include "traces/dataset/chrome.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/text.hpp"

namespace mansard::traces {
namespace {

/// A text for between quotes; bytes that are no UTF-8 are replaced.
std::string json_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
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

std::string_view category(ir::TraceEventKind kind) {
  switch (kind) {
    case ir::TraceEventKind::kCopy:
      return "gpu_memcpy";
    case ir::TraceEventKind::kMemset:
      return "gpu_memset";
    default:
      return "kernel";
  }
}

/// Where an event is drawn: (pid, tid).
using Track = std::pair<std::int64_t, std::int64_t>;

class Writer {
 public:
  explicit Writer(const ir::Timeline& timeline) : timeline_(timeline) {
    first_ = INT64_MAX;
    for (const ir::Activity& a : timeline.activities) {
      first_ = std::min(first_, a.start_ns);
      (void)device({a.run, a.device});
    }
    for (const ir::HostCall& c : timeline.calls) {
      first_ = std::min(first_, c.start_ns);
      (void)program({c.run, c.process});
    }
    spread();
  }

  std::string write() {
    text_ =
        "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"producer\": \"mansard\"},\n"
        "\"traceEvents\": [\n";
    names();
    for (std::size_t i = 0; i < timeline_.calls.size(); ++i) {
      const ir::HostCall& c = timeline_.calls[i];
      complete(c.name, "cuda_runtime", track(c), c.start_ns, c.duration_ns,
               fmt::format("\"correlation\": {}", i + 1));
    }
    for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
      activity(i);
    }
    if (text_.ends_with(",\n")) {
      text_.erase(text_.size() - 2);
    }
    return text_ + "\n]}\n";
  }

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;  ///< Run, and device or process.

  /// Devices and programs are numbered in one row, since ids of both are pids here.
  std::int64_t device(Place place) {
    return pids_.try_emplace({true, place}, static_cast<std::int64_t>(pids_.size())).first->second;
  }
  std::int64_t program(Place place) {
    return pids_.try_emplace({false, place}, static_cast<std::int64_t>(pids_.size())).first->second;
  }

  /// Viewers want the events of a row nested or apart, but kernels of a stream overlap where one
  /// starts before the last has drained: such go to further rows of their stream.
  void spread() {
    std::vector<std::size_t> order(timeline_.activities.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto start = [this](std::size_t i) {
      return std::pair(timeline_.activities[i].start_ns, i);
    };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return start(a) < start(b); });
    std::map<Track, std::vector<std::int64_t>> ends;  // Of a stream's rows.
    rows_.resize(order.size());
    for (const std::size_t i : order) {
      const ir::Activity& a = timeline_.activities[i];
      std::vector<std::int64_t>& rows = ends[{device({a.run, a.device}), a.stream}];
      const auto row = std::find_if(rows.begin(), rows.end(),
                                    [&](std::int64_t end) { return end <= a.start_ns; });
      rows_[i] = row - rows.begin();
      const std::int64_t end = a.start_ns + a.duration_ns;
      row == rows.end() ? rows.push_back(end) : void(*row = end);
    }
  }

  Track track(std::size_t i) {
    constexpr std::int64_t kRow = 1'000'000;  // Beyond the streams of a program.
    const ir::Activity& a = timeline_.activities[i];
    return {device({a.run, a.device}), a.stream + kRow * rows_[i]};
  }
  Track track(const ir::HostCall& c) { return {program({c.run, c.process}), c.thread}; }

  void names() {
    for (const auto& [key, pid] : pids_) {
      const auto& [is_device, place] = key;
      meta("process_name", {pid, 0},
           is_device ? fmt::format("GPU {}, run {}", place.second, place.first)
                     : fmt::format("process {}, run {}", place.second, place.first));
    }
    std::set<Track> seen;
    for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
      if (seen.insert(track(i)).second) {
        const std::string overlapping = rows_[i] > 0 ? ", overlapping" : "";
        meta("thread_name", track(i),
             fmt::format("stream {}{}", timeline_.activities[i].stream, overlapping));
      }
    }
  }

  void meta(std::string_view what, const Track& track, std::string_view name) {
    text_ += fmt::format(
        "{{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": "
        "\"{}\"}}}},\n",
        what, track.first, track.second, json_text(name));
  }

  void complete(std::string_view name, std::string_view category, const Track& track,
                std::int64_t start, std::int64_t duration, const std::string& args) {
    text_ += fmt::format(
        "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, "
        "\"dur\": {}, \"args\": {{{}}}}},\n",
        category, json_text(name), track.first, track.second, decimal(start - first_),
        decimal(duration), args);
  }

  void activity(std::size_t i) {
    const ir::Activity& a = timeline_.activities[i];
    std::string args = fmt::format("\"device\": {}, \"stream\": {}", a.device, a.stream);
    if (a.kind == ir::TraceEventKind::kKernel) {
      args += fmt::format(", \"grid\": [{}, {}, {}]", a.grid[0], a.grid[1], a.grid[2]);
    } else {
      args += fmt::format(", \"bytes\": {}", a.bytes);
    }
    if (!a.op.empty()) {
      args += fmt::format(", \"op\": \"{}\"", json_text(a.op));
    }
    if (a.call) {
      args += fmt::format(", \"correlation\": {}", *a.call + 1);
    }
    complete(a.name, category(a.kind), track(i), a.start_ns, a.duration_ns, args);
    if (a.call) {
      const ir::HostCall& call = timeline_.calls[*a.call];
      flow("s", i, track(call), call.start_ns);
      flow("f", i, track(i), std::max(a.start_ns, call.start_ns));
    }
  }

  void flow(std::string_view phase, std::size_t id, const Track& track, std::int64_t time) {
    text_ += fmt::format(
        "{{\"ph\": \"{}\", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"id\": {}, \"pid\": {}, "
        "\"tid\": {}, \"ts\": {}{}}},\n",
        phase, id + 1, track.first, track.second, decimal(time - first_),
        phase == "f" ? ", \"bp\": \"e\"" : "");
  }

  const ir::Timeline& timeline_;
  std::int64_t first_ = 0;
  std::vector<std::int64_t> rows_;  ///< Of each activity, within its stream.
  std::map<std::pair<bool, Place>, std::int64_t> pids_;
  std::string text_;
};

}  // namespace

std::string chrome_trace(const ir::Timeline& timeline) {
  return Writer(timeline).write();
}

}  // namespace mansard::traces
