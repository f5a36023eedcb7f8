#include <cstdint>
#include <cstdlib>

#include "tests/traces/recorder.hpp"

/// Any bytes are read to an end or to a break within them, and the same whatever the window.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = mansard::traces::read_text(text);
  const auto pieces = mansard::traces::read_text(text, 128);
  if (whole.report.broken && whole.report.broken->offset > 1000 * size + 1000) {
    std::abort();
  }
  if (!whole.report.broken && !pieces.report.broken &&
      whole.recorder.events.size() != pieces.recorder.events.size()) {
    std::abort();
  }
  return 0;
}
