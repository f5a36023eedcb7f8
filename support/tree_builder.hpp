#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/document.hpp"

namespace mansard {

/// What keeps a file from being parsed at all: too many bytes, or bytes that are not text.
[[nodiscard]] std::optional<Diagnostic> find_unreadable(
    const std::shared_ptr<const SourceFile>& file, const DocumentLimits& limits);

/// Builds the tree of a document from the events of a parser and holds what YAML and JSON share:
/// limits and unique keys. Calls come in the order of the text; a call that gives false has met a
/// limit, and the parser stops.
class TreeBuilder {
 public:
  /// No limit of a caller lets a tree be deeper than this: trees are walked and freed by recursion.
  static constexpr std::size_t kDeepest = 400;

  TreeBuilder(std::shared_ptr<const SourceFile> file, const DocumentLimits& limits);

  [[nodiscard]] bool begin_collection(Node::Kind kind, std::size_t begin);
  void end_collection(std::size_t end);
  [[nodiscard]] bool scalar(std::string text, bool quoted, std::size_t begin, std::size_t end);
  [[nodiscard]] bool null(std::size_t begin, std::size_t end);
  /// The key of the next value. Only where `expects_key()`.
  void key(std::string text, std::size_t begin, std::size_t end);

  /// Within a mapping, before a key.
  [[nodiscard]] bool expects_key() const;
  [[nodiscard]] std::size_t depth() const { return open_.size(); }
  /// The innermost open collection, or null.
  [[nodiscard]] const Node* innermost() const { return open_.empty() ? nullptr : open_.back(); }

  void error(std::string id, std::string message, Location location, std::string label = {});
  void error(std::string id, std::string message, std::size_t begin, std::size_t end,
             std::string label = {});
  /// The tree, or every error.
  [[nodiscard]] Result<Node> finish() &&;

 private:
  [[nodiscard]] Location at(std::size_t begin, std::size_t end) const {
    return {file_, begin, end};
  }
  /// The node that the next value goes into, or null if there would be too many.
  [[nodiscard]] Node* next_node(std::size_t begin, std::size_t end);
  void report_duplicate_keys(const Node& mapping);

  std::shared_ptr<const SourceFile> file_;
  DocumentLimits limits_;
  Node root_;
  std::vector<Node*> open_;
  bool key_is_read_ = false;
  std::size_t nodes_ = 0;
  std::size_t duplicates_ = 0;
  Diagnostics diagnostics_;
};

}  // namespace mansard
