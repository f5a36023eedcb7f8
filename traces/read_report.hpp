#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/trace.hpp"

namespace mansard::traces {

/// Where and why a file stopped making sense. What came before it was handed on.
struct Break {
  std::string id;       ///< "trace-truncated".
  std::string message;  ///< "the file ends within an event".
  std::string hint;
  std::uint64_t offset = 0;  ///< Byte of the text, after gunzipping.
};

/// What a reader found, besides the events that it handed on.
struct ReadReport {
  ir::TraceRun run;
  std::optional<Break> broken;
  std::uint64_t bytes = 0;  ///< Of text read, after gunzipping.
};

}  // namespace mansard::traces
