#include "traces/kineto/event.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "traces/kineto/decimal.hpp"

namespace mansard::traces {
namespace {

using Kind = ir::TraceEventKind;

bool same_letters(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() &&
         std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == y;
         });
}

std::int64_t whole_or(std::string_view text, std::int64_t fallback) {
  return parse_whole(text).value_or(fallback);
}

/// "Memcpy HtoD (Pageable -> Device)" -> "HtoD"; "CopyHostToDevice" of AMD likewise.
std::string_view copy_kind(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kLong[] = {{"HostToDevice", "HtoD"},
                                                                     {"DeviceToHost", "DtoH"},
                                                                     {"DeviceToDevice", "DtoD"},
                                                                     {"HostToHost", "HtoH"},
                                                                     {"PeerToPeer", "PtoP"}};
  for (const auto& [spelling, kind] : kLong) {
    if (name.find(spelling) != std::string_view::npos) {
      return kind;
    }
  }
  constexpr std::string_view kFirst = "Memcpy ";
  if (!name.starts_with(kFirst)) {
    return {};
  }
  name.remove_prefix(kFirst.size());
  return name.substr(0, name.find(' '));
}

/// [x, y, z]; missing dimensions are 1.
ir::Extent extent(const Tokens& tokens, std::size_t at) {
  ir::Extent result{};
  if (tokens[at] != '[') {
    return result;
  }
  std::size_t dim = 0;
  for (std::size_t i = at + 1; i < tokens.count() && tokens[i] != ']' && dim < result.size(); ++i) {
    if (tokens[i] != ',') {
      result[dim++] = whole_or(tokens.scalar(i), 0);
    }
  }
  std::fill(result.begin() + static_cast<std::ptrdiff_t>(dim), result.end(), dim == 0 ? 0 : 1);
  return result;
}

/// Members that describe a collective, in the order of the file, as one JSON object.
void add_collective(const Tokens& tokens, std::string_view key, std::size_t at, std::string& text) {
  text += fmt::format("{}\"{}\":", text.empty() ? "{" : ",", key);
  text += tokens.compact(at, tokens.behind(at).value_or(at + 1));
}

struct DeviceArgs {
  ir::TraceEvent& event;
  EventText& text;

  void operator()(const Tokens& tokens, std::string_view key, std::size_t at) const {
    switch (key.size()) {
      case 4:
        if (key == "grid") {
          event.grid = extent(tokens, at);
        } else if (key == "size") {  // AMD's word for bytes.
          event.bytes = whole_or(tokens.scalar(at), 0);
        }
        return;
      case 5:
        if (key == "block") {
          event.block = extent(tokens, at);
        } else if (key == "bytes" || key == "Bytes") {
          event.bytes = whole_or(tokens.scalar(at), 0);
        } else if (key == "dtype") {
          add_collective(tokens, key, at, text.collective);
        }
        return;
      case 6:
        if (key == "device") {
          event.device = whole_or(tokens.scalar(at), event.device);
        } else if (key == "stream") {
          event.stream = whole_or(tokens.scalar(at), event.stream);
        }
        return;
      case 7:
        if (key == "context") {
          event.context = whole_or(tokens.scalar(at), 0);
        }
        return;
      case 11:
        if (key == "correlation") {
          event.correlation = parse_whole(tokens.scalar(at));
        } else if (key == "External id" || key == "external id") {
          event.external = parse_whole(tokens.scalar(at));
        }
        return;
      default:
        rare(tokens, key, at);
    }
  }

  void rare(const Tokens& tokens, std::string_view key, std::size_t at) const {
    if (key == "registers per thread") {
      event.registers = whole_or(tokens.scalar(at), 0);
    } else if (key == "shared memory") {
      event.shared_static = whole_or(tokens.scalar(at), 0);
    } else if (key == "graph node id") {
      const auto node = parse_whole(tokens.scalar(at));
      event.graph_node = node.value_or(0) == 0 ? std::nullopt : node;
    } else if (key == "wait_on_stream") {
      event.awaited_stream = parse_whole(tokens.scalar(at));
    } else if (key == "wait_on_cuda_event_record_corr_id") {
      event.awaited_correlation = parse_whole(tokens.scalar(at));
    } else if (key == "Collective name" || key == "In msg nelems" || key == "Out msg nelems" ||
               key == "Group size") {
      add_collective(tokens, key, at, text.collective);
    }
  }
};

struct HostArgs {
  ir::TraceEvent& event;
  EventText& text;

  void operator()(const Tokens& tokens, std::string_view key, std::size_t at) const {
    if (key == "External id" || key == "external id") {
      event.external = parse_whole(tokens.scalar(at));
    } else if (key == "correlation") {
      event.correlation = parse_whole(tokens.scalar(at));
    } else if (event.kind == Kind::kOp && (key == "Input Dims" || key == "Input dims")) {
      text.shapes = tokens.compact(at, tokens.behind(at).value_or(at));
    } else if (event.kind == Kind::kOp && key == "Input type") {
      text.dtypes = tokens.compact(at, tokens.behind(at).value_or(at));
    }
  }
};

template <typename Args>
void read_args(const Tokens& tokens, std::size_t at, const Args& args) {
  if (at != 0 && tokens[at] == '{') {
    (void)tokens.members(
        at, [&](std::string_view key, std::size_t value) { args(tokens, key, value); });
  }
}

}  // namespace

void RawEvent::member(const Tokens& tokens, std::string_view key, std::size_t value) {
  if (key.empty()) {
    return;
  }
  switch (key.front()) {
    case 'n':
      name_at = key == "name" ? value : name_at;
      return;
    case 'p':
      if (key == "ph") {
        phase = tokens.scalar(value);
      } else if (key == "pid") {
        process = tokens.scalar(value);
      }
      return;
    case 't':
      if (key == "ts") {
        start = tokens.scalar(value);
      } else if (key == "tid") {
        thread = tokens.scalar(value);
      }
      return;
    case 'd':
      if (key == "dur") {
        duration = tokens.scalar(value);
      }
      return;
    case 'c':
      if (key == "cat") {
        category = tokens.scalar(value);
      }
      return;
    case 'i':
      if (key == "id") {
        id = tokens.scalar(value);
      }
      return;
    case 'a':
      args_at = key == "args" ? value : args_at;
      return;
    default:
      return;
  }
}

Category category_of(std::string_view name) {
  struct Known {
    std::string_view name;
    Category category;
  };
  static constexpr std::array kKnown{
      Known{"kernel", {Kind::kKernel, true}},
      Known{"cpu_op", {Kind::kOp, false}},
      Known{"operator", {Kind::kOp, false}},
      Known{"gpu_memcpy", {Kind::kCopy, true}},
      Known{"memcpy", {Kind::kCopy, true}},
      Known{"gpu_memset", {Kind::kMemset, true}},
      Known{"memset", {Kind::kMemset, true}},
      Known{"cuda_sync", {Kind::kSynchronisation, true}},
      Known{"runtime", {Kind::kLaunch, false}},
      Known{"driver", {Kind::kLaunch, false}},
      Known{"gpu_user_annotation", {Kind::kAnnotation, true}},
  };
  for (const Known& known : kKnown) {
    if (same_letters(name, known.name)) {
      return known.category;
    }
  }
  const bool call = name.ends_with("_runtime") || name.ends_with("_driver");
  return {call ? Kind::kLaunch : Kind::kAnnotation, false};
}

Category category_of_process(std::string_view process) {
  if (process == "CUDA functions") {
    return {Kind::kKernel, true};
  }
  return {process == "CPU functions" ? Kind::kOp : Kind::kAnnotation, false};
}

EventTime read_event(const Tokens& tokens, const RawEvent& raw, const Category& category,
                     ir::TraceEvent& event, EventText& text) {
  const auto start = parse_thousandths(raw.start);
  if (!start) {
    return EventTime::kNone;
  }
  const auto duration =
      raw.duration.empty() ? std::optional<std::int64_t>(0) : parse_thousandths(raw.duration);
  const bool lasts = duration && *duration >= 0;
  event = ir::TraceEvent{
      .kind = category.kind, .start_ns = *start, .duration_ns = lasts ? *duration : 0};
  event.name = raw.name_at != 0 ? tokens.string(raw.name_at, text.name) : std::string_view{};
  event.category = raw.category;
  text.shapes.clear();
  text.dtypes.clear();
  text.collective.clear();
  if (category.on_device) {
    event.device = whole_or(raw.process, -1);
    event.stream = whole_or(raw.thread, -1);
    read_args(tokens, raw.args_at, DeviceArgs{event, text});
    if (event.kind == Kind::kCopy) {
      event.copy_kind = copy_kind(event.name);
    }
    if (!text.collective.empty()) {
      text.collective += '}';
      event.collective = text.collective;
    }
  } else {
    event.process = whole_or(raw.process, 0);
    event.thread = whole_or(raw.thread, 0);
    if (event.kind != Kind::kAnnotation) {
      read_args(tokens, raw.args_at, HostArgs{event, text});
      event.shapes = text.shapes;
      event.dtypes = text.dtypes;
    }
  }
  return lasts ? EventTime::kWhole : EventTime::kNoDuration;
}

}  // namespace mansard::traces
