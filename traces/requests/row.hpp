#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/request.hpp"
#include "support/result.hpp"

/// What the readers of single formats share. Internal to traces/requests.
namespace mansard::traces::requests {

/// One row: a request whose time is still that of the trace's own clock.
struct Row {
  std::int64_t time_ns = 0;
  ir::Request request;
  bool failed = false;  ///< The trace says that it was not answered.
};

/// One line of a file, without its end.
struct Line {
  std::string_view text;
  std::size_t number = 1;
  const std::string* file = nullptr;

  /// A place in the line, for a diagnostic; `begin` and `end` count bytes of the line.
  [[nodiscard]] Location at(std::size_t begin, std::size_t end) const;
  [[nodiscard]] Location whole() const { return at(0, text.size()); }
};

/// Reads the rows of one format.
class RowParser {
 public:
  RowParser() = default;
  virtual ~RowParser() = default;
  RowParser(const RowParser&) = delete;
  RowParser& operator=(const RowParser&) = delete;
  [[nodiscard]] virtual Result<Row> parse(const Line& line) = 0;
};

/// A format: whether a file whose first line is `first` has it, and its parser. `uses_first` is
/// false where that line is a header.
struct Format {
  std::string_view name;
  std::string_view looks_like;
  bool has_header = false;
  bool (*matches)(std::string_view first);
  std::unique_ptr<RowParser> (*parser)(std::string_view first);
};
[[nodiscard]] const std::vector<Format>& all_formats();

/// Decimal text as nanoseconds, exactly: "1787267980.0827403" times `unit_ns` (1e9 of seconds).
/// Rounds what is below a nanosecond to zero. Errors: not a number, out of the range of an int64.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t unit_ns);
/// "2023-11-16 18:17:03.9799600", with or without an offset ("+00:00", "Z"), as nanoseconds from
/// 1970; without an offset the clock is taken as UTC, since only differences matter.
[[nodiscard]] std::optional<std::int64_t> parse_date_time(std::string_view text);
/// A count of tokens; fractions and negative numbers are not counts.
[[nodiscard]] std::optional<std::uint32_t> parse_tokens(std::string_view text);

}  // namespace mansard::traces::requests
