#include "support/source.hpp"

#include <algorithm>
#include <string_view>

#include "support/text.hpp"

namespace mansard {

LineColumn line_column(const Location& location) {
  if (!location.file) {
    return {};
  }
  const std::string_view text = location.file->text;
  const std::size_t at = std::min(location.begin, text.size());
  const std::string_view before = text.substr(0, at);
  const std::size_t newline = before.rfind('\n');
  if (newline != std::string_view::npos) {
    const auto lines = std::count(before.begin(), before.end(), '\n');
    return {.line = static_cast<std::size_t>(lines) + location.file->first_line,
            .column = at - newline};
  }
  const std::size_t mark = byte_order_mark_length(text);
  return {.line = location.file->first_line, .column = std::max(at, mark) - mark + 1};
}

}  // namespace mansard
