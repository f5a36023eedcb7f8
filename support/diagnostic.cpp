#include "support/diagnostic.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "support/text.hpp"

namespace mansard {
namespace {

/// A line is shown whole up to this many bytes; of a longer one, a window of about as many around
/// the carets.
constexpr std::size_t kLongestLine = 120;
constexpr std::size_t kBeforeCarets = 40;
constexpr std::string_view kElision = "...";

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

/// Finds lines of positions; positions asked for in ascending order cost one pass over the file in
/// all.
class LineFinder {
 public:
  struct Line {
    std::size_t number = 1;
    std::size_t begin = 0;
    std::size_t end = 0;  ///< Without the white space that ends it.
  };

  Line find(const SourceFile& file, std::size_t position) {
    if (&file != file_ || position < line_.begin) {
      file_ = &file;
      line_ = {.number = file.first_line, .begin = byte_order_mark_length(file.text)};
    }
    const std::string_view text = file.text;
    std::size_t newline = text.find('\n', line_.begin);
    while (newline < position) {
      ++line_.number;
      line_.begin = newline + 1;
      newline = text.find('\n', line_.begin);
    }
    line_.end = std::min(newline, text.size());
    while (line_.end > line_.begin && is_space(text[line_.end - 1])) {
      --line_.end;
    }
    return line_;
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  const SourceFile* file_ = nullptr;
  Line line_;
};

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// The start of the character that `position` is in.
std::size_t character_start(std::string_view text, std::size_t position, std::size_t floor) {
  while (position > floor && position < text.size() && is_continuation(text[position])) {
    --position;
  }
  return position;
}

/// The part of a line that is shown, in bytes of the file.
struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Window window_of(std::string_view text, const LineFinder::Line& line, std::size_t caret) {
  if (line.end - line.begin <= kLongestLine) {
    return {line.begin, line.end};
  }
  const std::size_t latest = line.end - std::min(line.end, kLongestLine);
  const std::size_t wanted = caret - std::min(caret, kBeforeCarets);
  const std::size_t begin = std::clamp(wanted, line.begin, std::max(latest, line.begin));
  const std::size_t end = std::min(line.end, begin + kLongestLine);
  return {character_start(text, begin, line.begin), character_start(text, end, line.begin)};
}

std::string shown(std::string_view text, Window window) {
  std::string result;
  for (std::size_t at = window.begin; at < window.end;) {
    const PrintedCharacter character = printed_character(text, at);
    result += character.text;
    at += character.bytes;
  }
  return result;
}

/// White space as wide as `window` is when shown; tabs stay tabs, so that what follows lines up.
std::string blank(std::string_view text, Window window) {
  std::string result;
  for (std::size_t at = window.begin; at < window.end;) {
    const PrintedCharacter character = printed_character(text, at);
    result += character.text == "\t" ? "\t" : std::string(character.cells, ' ');
    at += character.bytes;
  }
  return result;
}

std::size_t cells(std::string_view text, Window window) {
  std::size_t result = 0;
  for (std::size_t at = window.begin; at < window.end;) {
    const PrintedCharacter character = printed_character(text, at);
    result += character.cells;
    at += character.bytes;
  }
  return result;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(" \t") + 1);
  return line;
}

/// The line and the carets under it.
std::string excerpt(const Diagnostic& diagnostic, const LineFinder::Line& line) {
  const std::string_view text = diagnostic.location.file->text;
  // White space at the end of a line is not shown, so a caret that points into a long run of it
  // stays near the text.
  const std::size_t position =
      std::clamp(diagnostic.location.begin, line.begin, line.end + kBeforeCarets);
  const std::size_t caret = character_start(text, std::min(position, text.size()), line.begin);
  const Window window = window_of(text, line, caret);
  const std::size_t marked_end =
      std::clamp(diagnostic.location.end, caret, std::max(caret, window.end));
  const std::size_t width = std::max<std::size_t>(1, cells(text, {caret, marked_end}));

  const std::string_view before = window.begin > line.begin ? kElision : "";
  const std::string_view after = window.end < line.end ? kElision : "";
  const std::string number = std::to_string(line.number);
  const std::string source =
      fmt::format("  {} | {}{}{}", number, before, shown(text, window), after);
  const std::string carets = fmt::format(
      "  {} | {}{}{} {}", std::string(number.size(), ' '), std::string(before.size(), ' '),
      blank(text, {window.begin, caret}), std::string(width, '^'), printable(diagnostic.label));
  return without_trailing_space(source) + "\n" + without_trailing_space(carets) + "\n";
}

std::string headline(const Diagnostic& diagnostic) {
  const std::string id = diagnostic.id.empty() ? "" : fmt::format(" [{}]", diagnostic.id);
  return fmt::format("{}: {}{}\n", name_of(diagnostic.severity), printable(diagnostic.message), id);
}

std::string render(const Diagnostic& diagnostic, LineFinder& finder) {
  const Location& location = diagnostic.location;
  if (!location.file) {
    const std::string label = printable(diagnostic.label);
    return headline(diagnostic) + (label.empty() ? "" : fmt::format("  {}\n", label));
  }
  const std::size_t begin = std::min(location.begin, location.file->text.size());
  const LineFinder::Line line = finder.find(*location.file, begin);
  const std::size_t column = std::max(begin, line.begin) - line.begin + 1;
  return fmt::format("{}:{}:{}: {}{}", printable(location.file->name), line.number, column,
                     headline(diagnostic), excerpt(diagnostic, line));
}

/// Where a diagnostic belongs: files in the order in which they first appear, positions within; a
/// note stays with the error that it explains.
using Rank = std::tuple<std::size_t, std::size_t>;

std::vector<std::size_t> reading_order(const Diagnostics& diagnostics) {
  std::map<const SourceFile*, std::size_t> files;
  std::vector<Rank> ranks;
  std::vector<std::size_t> order;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kNote && !ranks.empty()) {
      ranks.push_back(ranks.back());
    } else {
      const Location& location = diagnostic.location;
      const auto file = files.try_emplace(location.file.get(), files.size()).first;
      ranks.emplace_back(file->second, location.begin);
    }
    order.push_back(order.size());
  }
  std::ranges::sort(order, [&ranks](std::size_t a, std::size_t b) {
    return std::tie(ranks[a], a) < std::tie(ranks[b], b);
  });
  return order;
}

}  // namespace

std::string render(const Diagnostic& diagnostic) {
  LineFinder finder;
  return render(diagnostic, finder);
}

std::string render(const Diagnostics& diagnostics) {
  LineFinder finder;
  std::string result;
  for (const std::size_t index : reading_order(diagnostics)) {
    result += render(diagnostics[index], finder);
  }
  return result;
}

}  // namespace mansard
