#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/trace.hpp"
#include "traces/byte_source.hpp"
#include "traces/kineto/kineto.hpp"

namespace mansard::traces {

/// Keeps what a reader hands on.
class Recorder : public ir::TraceSink {
 public:
  struct Event {
    ir::TraceEvent event;
    std::string name;
    std::string shapes;
    std::string collective;
    std::string copy_kind;
  };
  std::vector<Event> events;
  std::vector<ir::TraceDevice> devices;
  std::map<std::string, std::int64_t> dropped;
  std::map<std::string, double> counters;
  std::map<std::string, std::string> texts;

  void device(const ir::TraceDevice& device) override { devices.push_back(device); }
  std::int64_t event(const ir::TraceEvent& event) override {
    events.push_back({event, std::string(event.name), std::string(event.shapes),
                      std::string(event.collective), std::string(event.copy_kind)});
    return static_cast<std::int64_t>(events.size());
  }
  void counter(std::int64_t, const ir::TraceCounter& counter) override {
    counters[std::string(counter.metric) + " " + std::string(counter.unit)] = counter.value;
    texts[std::string(counter.metric)] = counter.text;
  }
  void count(std::string_view what, std::int64_t events, bool kept) override {
    if (!kept) {
      dropped[std::string(what)] = events;
    }
  }
};

/// A Kineto text read with a window of that many bytes.
struct KinetoRead {
  Recorder recorder;
  ReadReport report;
};
inline KinetoRead read_text(std::string_view text, std::size_t window = std::size_t{1} << 16) {
  KinetoRead result;
  result.report = read_kineto(ByteSource::of(text), result.recorder,
                              {.window = window, .largest = std::size_t{1} << 20});
  return result;
}

}  // namespace mansard::traces
