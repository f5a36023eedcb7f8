#include "traces/dataset/chrome.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

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
  Track track(const ir::Activity& a) { return {device({a.run, a.device}), a.stream}; }
  Track track(const ir::HostCall& c) { return {program({c.run, c.process}), c.thread}; }

  void names() {
    for (const auto& [key, pid] : pids_) {
      const auto& [is_device, place] = key;
      meta("process_name", {pid, 0},
           is_device ? fmt::format("GPU {}, run {}", place.second, place.first)
                     : fmt::format("process {}, run {}", place.second, place.first));
    }
    std::set<Track> seen;
    for (const ir::Activity& a : timeline_.activities) {
      if (seen.insert(track(a)).second) {
        meta("thread_name", track(a), fmt::format("stream {}", a.stream));
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
    complete(a.name, category(a.kind), track(a), a.start_ns, a.duration_ns, args);
    if (a.call) {
      const ir::HostCall& call = timeline_.calls[*a.call];
      flow("s", i, track(call), call.start_ns);
      flow("f", i, track(a), std::max(a.start_ns, call.start_ns));
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
  std::map<std::pair<bool, Place>, std::int64_t> pids_;
  std::string text_;
};

}  // namespace

std::string chrome_trace(const ir::Timeline& timeline) {
  return Writer(timeline).write();
}

}  // namespace mansard::traces
