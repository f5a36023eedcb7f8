#include "traces/kineto/kineto.hpp"

#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/text.hpp"
#include "traces/importers.hpp"
#include "traces/kineto/decimal.hpp"
#include "traces/kineto/event.hpp"
#include "traces/kineto/structure.hpp"
#include "traces/kineto/tokens.hpp"

namespace mansard::traces {
namespace {

/// How often each sort of event occurred. There are few sorts, and runs of one sort are long.
class Tally {
 public:
  void add(std::string_view phase, std::string_view category, bool kept) {
    if (last_ < sorts_.size() && sorts_[last_].is(phase, category, kept)) {
      ++sorts_[last_].events;
      return;
    }
    for (last_ = 0; last_ < sorts_.size(); ++last_) {
      if (sorts_[last_].is(phase, category, kept)) {
        ++sorts_[last_].events;
        return;
      }
    }
    constexpr std::size_t kMost = 1000;  // A hostile file may name each event's category anew.
    if (sorts_.size() < kMost) {
      sorts_.push_back({std::string(phase), std::string(category), kept, 1});
    } else {
      ++others_;
    }
  }

  void report(ir::TraceSink& sink) const {
    for (const Sort& sort : sorts_) {
      const std::string category = sort.category.empty() ? "(no category)" : sort.category;
      sink.count(unescaped(fmt::format("{} {}", category, sort.phase)), sort.events, sort.kept);
    }
    if (others_ > 0) {
      sink.count("other categories", others_, false);
    }
  }

 private:
  struct Sort {
    std::string phase;
    std::string category;
    bool kept;
    std::int64_t events;
    [[nodiscard]] bool is(std::string_view p, std::string_view c, bool k) const {
      return c == category && p == phase && k == kept;
    }
  };
  std::vector<Sort> sorts_;
  std::size_t last_ = 0;
  std::int64_t others_ = 0;
};

/// A "B" that waits for its "E".
struct OpenEvent {
  ir::TraceEvent event;
  std::string name;
  std::string category;
};

class Reader {
 public:
  Reader(ByteSource source, ir::TraceSink& sink, const KinetoLimits& limits)
      : window_(std::move(source), limits.window, limits.largest), sink_(sink) {}

  ReadReport read() {
    report_.run.format = "kineto";
    std::size_t taken = 0;
    while (!report_.broken && window_.advance(taken)) {
      const Tokens tokens(window_);
      const std::size_t next = take(tokens);
      // Blanks behind the last value that was taken need not be kept.
      taken = tokens.begin(next);
      report_.bytes = window_.offset() + taken;
    }
    finish();
    return std::move(report_);
  }

 private:
  enum class State : std::uint8_t { kStart, kMembers, kEvents, kSkip, kDone };

  /// Takes what the window holds whole; the first place that it does not.
  std::size_t take(const Tokens& tokens) {
    std::size_t i = 0;
    while (i < tokens.count() && !report_.broken) {
      const std::size_t before = i;
      switch (state_) {
        case State::kStart:
          start(tokens, i);
          break;
        case State::kMembers:
          member(tokens, i);
          break;
        case State::kEvents:
          event(tokens, i);
          break;
        case State::kSkip:
          skip(tokens, i);
          break;
        case State::kDone:
          broken(tokens, i, "trace-trailing", "more text follows the end of the trace");
          break;
      }
      if (i == before) {
        break;
      }
    }
    return i;
  }

  void start(const Tokens& tokens, std::size_t& i) {
    if (window_.offset() == 0 && i == 0 && tokens.scalar(i) == "\xEF\xBB\xBF") {
      ++i;  // A byte order mark.
      return;
    }
    if (tokens[i] != '{' && tokens[i] != '[') {
      broken(tokens, i, "trace-form", "expected a trace, a JSON object or list",
             "a Chrome trace begins with { or [");
      return;
    }
    is_list_ = tokens[i] == '[';
    seen_events_ = is_list_;
    state_ = is_list_ ? State::kEvents : State::kMembers;
    ++i;
  }

  void member(const Tokens& tokens, std::size_t& i) {
    if (tokens[i] == ',') {
      ++i;
      return;
    }
    if (tokens[i] == '}') {
      state_ = State::kDone;
      ++i;
      return;
    }
    if (i + 2 >= tokens.count()) {
      return;
    }
    if (tokens[i] != '"' || tokens[i + 1] != ':') {
      broken(tokens, i, "json-syntax", "expected a member \"name\": value of the trace");
      return;
    }
    const std::string_view key = tokens.scalar(i);
    if (key == "traceEvents" && tokens[i + 2] == '[') {
      seen_events_ = true;
      state_ = State::kEvents;
      i += 3;
    } else if (is_fact(key)) {
      if (const auto next = tokens.behind(i + 2)) {
        fact(tokens, key, i + 2);
        i = *next;
      }
    } else {
      state_ = State::kSkip;
      i += 2;
    }
  }

  static bool is_fact(std::string_view key) {
    return key == "baseTimeNanoseconds" || key == "deviceProperties" || key == "distributedInfo" ||
           key == "cuda_runtime_version" || key == "hip_runtime_version";
  }

  void fact(const Tokens& tokens, std::string_view key, std::size_t at) {
    if (key == "baseTimeNanoseconds") {
      report_.run.base_ns = parse_whole(tokens.scalar(at)).value_or(0);
    } else if (key == "deviceProperties" && tokens[at] == '[') {
      const std::size_t end = tokens.behind(at).value_or(at);
      for (std::size_t i = at + 1; i < end && tokens[i] == '{';) {
        device(tokens, i);
        i += i < end && tokens[i] == ',' ? 1 : 0;
      }
    } else if (key == "distributedInfo" && tokens[at] == '{') {
      (void)tokens.members(at, [&](std::string_view name, std::size_t value) {
        if (name == "rank") {
          report_.run.rank = parse_whole(tokens.scalar(value)).value_or(-1);
        } else if (name == "world_size") {
          report_.run.world_size = parse_whole(tokens.scalar(value)).value_or(0);
        }
      });
    } else if (key == "cuda_runtime_version" || key == "hip_runtime_version") {
      report_.run.producer =
          fmt::format("{} {}", key.substr(0, key.find('_')), unescaped(tokens.scalar(at)));
    }
  }

  void device(const Tokens& tokens, std::size_t& i) {
    struct Name {
      std::string_view key;
      std::int64_t ir::TraceDevice::* field;
    };
    static constexpr Name kNames[] = {
        {"id", &ir::TraceDevice::id},
        {"numSms", &ir::TraceDevice::sm_count},
        {"totalGlobalMem", &ir::TraceDevice::memory_bytes},
        {"computeMajor", &ir::TraceDevice::compute_major},
        {"computeMinor", &ir::TraceDevice::compute_minor},
        {"warpSize", &ir::TraceDevice::warp_size},
        {"regsPerMultiprocessor", &ir::TraceDevice::registers_per_sm},
        {"sharedMemPerMultiprocessor", &ir::TraceDevice::shared_per_sm},
        {"maxThreadsPerMultiprocessor", &ir::TraceDevice::threads_per_sm}};
    ir::TraceDevice device;
    const std::size_t before = i;
    (void)tokens.members(i, [&](std::string_view key, std::size_t value) {
      if (key == "name") {
        device.name = unescaped(tokens.scalar(value));
      }
      for (const Name& name : kNames) {
        if (key == name.key) {
          device.*name.field = parse_whole(tokens.scalar(value)).value_or(0);
        }
      }
    });
    i = i == before ? i + 1 : i;
    sink_.device(device);
  }

  /// Passes over a value of any size, across windows.
  void skip(const Tokens& tokens, std::size_t& i) {
    for (; i < tokens.count(); ++i) {
      const char c = tokens[i];
      skipped_depth_ += (c == '{' || c == '[') ? 1 : 0;
      skipped_depth_ -= (c == '}' || c == ']') ? 1 : 0;
      if (skipped_depth_ < 0) {
        broken(tokens, i, "json-syntax", "expected a value");
        return;
      }
      if (skipped_depth_ == 0) {
        state_ = State::kMembers;
        ++i;
        return;
      }
    }
  }

  void event(const Tokens& tokens, std::size_t& i) {
    if (tokens[i] == '{') {
      RawEvent raw;
      std::size_t end = i;
      const Walk walk = tokens.members(
          end, [&](std::string_view key, std::size_t value) { raw.member(tokens, key, value); });
      if (walk == Walk::kBroken) {
        broken(tokens, end, "json-syntax", "expected \"name\": value, a comma or } in an event");
      } else if (walk == Walk::kDone) {
        hand_on(tokens, raw);
        i = end;
      }
    } else if (tokens[i] == ',') {
      ++i;
    } else if (tokens[i] == ']') {
      state_ = is_list_ ? State::kDone : State::kMembers;
      ++i;
    } else {
      broken(tokens, i, "json-syntax",
             "expected an event {...}, a comma or ] in the list of events");
    }
  }

  void hand_on(const Tokens& tokens, const RawEvent& raw) {
    const bool complete = raw.phase == "X";
    const bool begins = raw.phase == "B";
    if (raw.phase == "E") {
      close(raw);
      return;
    }
    if (!complete && !begins) {
      tally_.add(raw.phase, raw.category, false);
      return;
    }
    if (raw.category.empty()) {
      last_category_name_.clear();
      last_category_ = category_of_process(raw.process);
    } else if (raw.category != last_category_name_) {
      last_category_name_ = raw.category;
      last_category_ = category_of(raw.category);
    }
    const EventTime time = read_event(tokens, raw, last_category_, event_, text_);
    if (time == EventTime::kNone) {
      ++unreadable_times_;
      return;
    }
    odd_durations_ += time == EventTime::kNoDuration ? 1 : 0;
    if (begins) {
      open(raw);
      return;
    }
    tally_.add(raw.phase, raw.category, true);
    sink_.event(event_);
  }

  void open(const RawEvent& raw) {
    OpenEvent opened{event_, std::string(event_.name), std::string(raw.category)};
    open_[{std::string(raw.process), std::string(raw.thread)}].push_back(std::move(opened));
  }

  void close(const RawEvent& raw) {
    const auto found = open_.find({std::string(raw.process), std::string(raw.thread)});
    const auto end = parse_thousandths(raw.start);
    if (found == open_.end() || found->second.empty() || !end) {
      tally_.add("E without B", raw.category, false);
      return;
    }
    OpenEvent opened = std::move(found->second.back());
    found->second.pop_back();
    ir::TraceEvent& event = opened.event;
    event.name = opened.name;
    event.category = opened.category;
    // Texts of the window in which it began are gone.
    event.shapes = event.dtypes = event.collective = event.copy_kind = {};
    event.duration_ns = std::max<std::int64_t>(0, *end - event.start_ns);
    tally_.add("B, E", opened.category, true);
    sink_.event(event);
  }

  void broken(const Tokens& tokens, std::size_t i, std::string id, std::string message,
              std::string hint = {}) {
    report_.broken = Break{std::move(id), std::move(message), std::move(hint),
                           window_.offset() + tokens.begin(i)};
  }

  void finish() {
    if (!report_.broken && state_ != State::kDone) {
      report_.broken = unfinished();
    } else if (!report_.broken && !window_.source().damage().empty()) {
      report_.broken = unfinished();  // The text is whole, but its checksum is wrong or missing.
    } else if (!report_.broken && !seen_events_) {
      report_.broken = Break{"trace-form", "the object has no list \"traceEvents\"", {}, 0};
    }
    std::int64_t never_ended = 0;
    for (const auto& [thread, events] : open_) {
      never_ended += static_cast<std::int64_t>(events.size());
    }
    tally_.report(sink_);
    const std::pair<const char*, std::int64_t> oddities[] = {
        {"events that never end", never_ended},
        {"events whose time is no number", unreadable_times_},
        {"durations that are negative or no number, read as 0", odd_durations_},
        {"control characters in names, read as spaces",
         static_cast<std::int64_t>(window_.control_characters())}};
    for (const auto& [what, events] : oddities) {
      if (events > 0) {
        sink_.count(what, events, false);
      }
    }
  }

  Break unfinished() {
    const std::uint64_t at = window_.offset() + window_.length();
    if (!window_.source().damage().empty()) {
      return {"trace-damaged", window_.source().damage(), {}, at};
    }
    if (!window_.at_end()) {
      return {"trace-value", "a value is larger than any of a trace", {}, window_.offset()};
    }
    if (state_ == State::kStart) {
      return {"trace-empty", "the file is empty", {}, at};
    }
    const char* where = state_ == State::kEvents ? "the list of events" : "the trace";
    return {"trace-truncated", fmt::format("the file ends within {}", where),
            "the program that wrote it was stopped", at};
  }

  StructuredWindow window_;
  ir::TraceSink& sink_;
  ReadReport report_;
  Tally tally_;
  State state_ = State::kStart;
  bool is_list_ = false;
  bool seen_events_ = false;
  std::int64_t skipped_depth_ = 0;
  std::int64_t unreadable_times_ = 0;
  std::int64_t odd_durations_ = 0;
  std::string last_category_name_;
  Category last_category_;
  ir::TraceEvent event_;
  EventText text_;
  std::map<std::pair<std::string, std::string>, std::vector<OpenEvent>> open_;
};

}  // namespace

ReadReport read_kineto(ByteSource source, ir::TraceSink& sink, const KinetoLimits& limits) {
  return Reader(std::move(source), sink, limits).read();
}

bool looks_like_kineto(std::string_view beginning) {
  beginning.remove_prefix(byte_order_mark_length(beginning));
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (beginning[first] == '{' || beginning[first] == '[');
}

Result<ReadReport> import_kineto(const std::string& path, ir::TraceSink& sink) {
  auto source = ByteSource::open(path);
  if (!source) {
    return failure(std::move(source.error()));
  }
  return read_kineto(std::move(*source), sink);
}

}  // namespace mansard::traces
