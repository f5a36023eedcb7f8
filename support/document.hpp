#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.hpp"

/// Located documents: YAML and JSON read into one tree in which every value knows its place.
///
///     auto document = parse_yaml(file);           // or parse_json, or read_document(path)
///     Reader reader(*document, diagnostics);      // collects every error, never stops at the
///     first auto name = reader.required_string("name"); auto tiers = reader.sequence("tiers");
///     reader.finish();                            // unknown keys are errors with did-you-mean
namespace mansard {

/// A value of a document. Mappings keep the order of the file; their keys are unique.
struct Node {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMapping };
  struct Entry;

  Kind kind = Kind::kNull;
  bool quoted = false;         ///< A quoted scalar is a string whatever it looks like.
  std::string scalar;          ///< Text of a scalar, escapes resolved.
  std::vector<Node> items;     ///< Of a sequence.
  std::vector<Entry> entries;  ///< Of a mapping.
  Location location;

  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] bool is_null() const { return kind == Kind::kNull; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::kScalar; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::kSequence; }
  [[nodiscard]] bool is_mapping() const { return kind == Kind::kMapping; }

  /// The scalar as one of these, if it reads as one. Integers take no fraction; numbers take JSON's
  /// bare Infinity and NaN.
  [[nodiscard]] std::optional<std::int64_t> as_integer() const;
  [[nodiscard]] std::optional<double> as_number() const;
  [[nodiscard]] std::optional<bool> as_bool() const;
};

struct Node::Entry {
  std::string key;
  Location key_location;
  Node value;
};

/// Limits that keep a hostile file from costing more than a moment.
struct DocumentLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t depth = 200;
  std::size_t nodes = 1'000'000;
};

/// Errors of both: syntax with its place, duplicate keys, bytes that are not UTF-8 text, more than
/// the limits allow. YAML anchors and aliases are refused by name: no file of ours needs them, and
/// they are how small files grow large.
[[nodiscard]] Result<Node> parse_yaml(std::shared_ptr<const SourceFile> file,
                                      const DocumentLimits& limits = {});
/// JSON with two documented tolerances that published configs need: a byte order mark, and the bare
/// words Infinity, -Infinity and NaN. Comments and trailing commas are errors that say so.
[[nodiscard]] Result<Node> parse_json(std::shared_ptr<const SourceFile> file,
                                      const DocumentLimits& limits = {});

/// Reads a file whole, refusing one above `limits.bytes` before it is read, a directory, or one
/// that cannot be opened.
[[nodiscard]] Result<std::shared_ptr<const SourceFile>> read_file(
    const std::string& path, const DocumentLimits& limits = {});
/// Reads and parses a file: JSON if it is named .json, YAML otherwise.
[[nodiscard]] Result<Node> read_document(const std::string& path,
                                         const DocumentLimits& limits = {});

/// Takes a mapping apart and remembers what was asked for, so that nothing in a file is silently
/// ignored. Every accessor adds a diagnostic when the value is not what was asked for; optional
/// accessors give nullopt for an absent key and for an explicit null.
class Reader {
 public:
  Reader(const Node& node, Diagnostics& diagnostics);

  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] Diagnostics& diagnostics() const { return *diagnostics_; }

  [[nodiscard]] bool has(std::string_view key);  ///< Also marks the key as known.
  [[nodiscard]] const Node* find(std::string_view key);
  [[nodiscard]] const Node* require(std::string_view key);
  [[nodiscard]] const Node* sequence(std::string_view key);
  [[nodiscard]] const Node* mapping(std::string_view key);

  [[nodiscard]] std::optional<std::string> string(std::string_view key);
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key);
  [[nodiscard]] std::optional<double> number(std::string_view key);
  [[nodiscard]] std::optional<bool> boolean(std::string_view key);
  [[nodiscard]] std::string required_string(std::string_view key);
  [[nodiscard]] std::int64_t required_integer(std::string_view key);

  /// Marks keys as known and of no effect.
  void ignore(std::string_view key);
  void error(std::string id, std::string message, const Location& location, std::string label = {});

  /// Reports every key that nobody asked for, with a suggestion from those that were.
  void finish();
  /// The entries that nobody asked for, in the order of the file.
  [[nodiscard]] std::vector<const Node::Entry*> unread() const;

 private:
  /// The value of a key that is there and not null, or null.
  const Node* present(std::string_view key);
  const Node* collection(std::string_view key, Node::Kind kind, std::string_view expected);
  std::optional<std::string> take_string(const Node& value);
  std::optional<std::int64_t> take_integer(const Node& value);
  void wrong_type(std::string_view expected, const Node& found);

  const Node* node_;
  Diagnostics* diagnostics_;
  std::vector<std::string> known_;
};

}  // namespace mansard
