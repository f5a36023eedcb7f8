#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/trace.hpp"
#include "traces/kineto/tokens.hpp"

namespace mansard::traces {

/// An event object's own members; texts lie in the window. What a member's place is stands in
/// `..._at`, 0 where it is absent.
struct RawEvent {
  std::string_view phase;
  std::string_view category;
  std::string_view process;
  std::string_view thread;
  std::string_view start;
  std::string_view duration;
  std::string_view id;
  std::size_t name_at = 0;
  std::size_t args_at = 0;

  void member(const Tokens& tokens, std::string_view key, std::size_t value);
};

/// What a category is: a kind of event, whatever its spelling in this version and for this vendor.
struct Category {
  ir::TraceEventKind kind = ir::TraceEventKind::kAnnotation;
  bool on_device = false;  ///< The event's process is a device and its thread a stream.
};
[[nodiscard]] Category category_of(std::string_view name);
/// Of an event without category, as autograd's old profiler writes: by its process's name.
[[nodiscard]] Category category_of_process(std::string_view process);

/// Texts that an event owns while it is handed on.
struct EventText {
  std::string name;
  std::string shapes;
  std::string dtypes;
  std::string collective;
};

/// What could be read of the time of an event.
enum class EventTime : std::uint8_t {
  kWhole,
  kNoDuration,  ///< Negative or no number; read as 0.
  kNone,        ///< No start, so that the event has no place.
};

/// Turns a complete event into `event`, if it has a start.
[[nodiscard]] EventTime read_event(const Tokens& tokens, const RawEvent& raw,
                                   const Category& category, ir::TraceEvent& event,
                                   EventText& text);

}  // namespace mansard::traces
