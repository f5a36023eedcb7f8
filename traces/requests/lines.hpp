#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/result.hpp"

/// The lines of a file, one at a time, in constant memory. Internal to traces/requests.
namespace mansard::traces::requests {

class LineSource {
 public:
  LineSource() = default;
  virtual ~LineSource() = default;
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  /// The next line without its end (a line feed, after a carriage return or not), valid until the
  /// next call; nullopt at the end. What is longer than 16 MiB comes in parts.
  [[nodiscard]] virtual std::optional<std::string_view> next() = 0;
  /// The line that `next` will give. At the start, a byte order mark is left out.
  [[nodiscard]] virtual std::optional<std::string_view> peek() = 0;
  /// From here on, the objects of a JSON list instead of lines.
  virtual void as_list() = 0;
  /// Of the line that `next` gave last, from 1.
  [[nodiscard]] virtual std::size_t number() const = 0;
};

/// Errors: a file that cannot be opened, a directory. `-` is no file.
[[nodiscard]] Result<std::unique_ptr<LineSource>> open_lines(const std::string& path);
/// The lines of a text.
[[nodiscard]] std::unique_ptr<LineSource> lines_of(std::string text);

}  // namespace mansard::traces::requests
