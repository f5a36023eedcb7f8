#include "traces/ncu/csv.hpp"

#include <algorithm>

namespace mansard::traces {
namespace {

/// `closed` becomes false if the text ends before the quotes do.
std::string quoted_field(std::string_view text, std::size_t& at, bool& closed) {
  std::string field;
  closed = false;
  for (++at; at < text.size(); ++at) {
    if (text[at] != '"') {
      field += text[at];
    } else if (at + 1 < text.size() && text[at + 1] == '"') {
      field += text[++at];
    } else {
      ++at;
      closed = true;
      break;
    }
  }
  return field;
}

}  // namespace

std::vector<std::string> csv_record(std::string_view text, std::size_t& at, char separator,
                                    bool& closed) {
  std::vector<std::string> fields;
  closed = true;
  const char ends[] = {separator, '\n', '\0'};
  for (;;) {
    std::string field;
    if (at < text.size() && text[at] == '"') {
      field = quoted_field(text, at, closed);
    }
    const std::size_t end = std::min(text.find_first_of(ends, at), text.size());
    field += text.substr(at, end - at);
    if (field.ends_with('\r')) {
      field.pop_back();
    }
    fields.push_back(std::move(field));
    at = end;
    if (at == text.size()) {
      return fields;
    }
    if (text[at++] == '\n') {
      return fields;
    }
  }
}

std::string_view text_line(std::string_view text, std::size_t& at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  std::string_view line = text.substr(at, end - at);
  at = std::min(end + 1, text.size());
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

}  // namespace mansard::traces
