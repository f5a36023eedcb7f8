#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// yaml-cpp, behind positions in bytes: what it finds in a text comes as events, what stops it as a
/// `YamlStop`.
namespace mansard {

/// Receives what is in a YAML document, in the order of the text. A handler leaves the parser by
/// throwing `YamlLeft`.
class YamlEvents {
 public:
  YamlEvents() = default;
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;
  virtual ~YamlEvents() = default;

  virtual void begin_document(std::size_t begin) = 0;
  virtual void end_document() = 0;
  /// `begin` is that of the next event if nothing stands for the null.
  virtual void null(std::size_t begin) = 0;
  virtual void alias(std::size_t begin) = 0;
  virtual void scalar(std::size_t begin, const std::string& text, bool quoted) = 0;
  virtual void begin_sequence(std::size_t begin) = 0;
  virtual void end_sequence() = 0;
  virtual void begin_mapping(std::size_t begin) = 0;
  virtual void end_mapping() = 0;
};

/// Thrown through the parser by a handler that has seen enough.
struct YamlLeft {};

/// What yaml-cpp could not read.
struct YamlStop {
  std::size_t position = 0;
  std::string
      message;  ///< In yaml-cpp's words; empty if a value is longer than `kLongestYamlValue`.
};

/// yaml-cpp holds back what it has read until it knows whether it is a key: all of a flow
/// collection, some 250 bytes of memory a byte of text. So a text that goes on for longer than this
/// without a value being complete is refused.
inline constexpr std::size_t kLongestYamlValue = std::size_t{1} << 20;

/// Runs yaml-cpp over the text. Gives nothing if it read all or the handler left.
[[nodiscard]] std::optional<YamlStop> parse_yaml_events(std::string_view text, YamlEvents& events);

}  // namespace mansard
