#include "support/tree_builder.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "support/text.hpp"

namespace mansard {
namespace {

/// A file with more than this many repeated keys has said enough.
constexpr std::size_t kMostDuplicates = 50;

}  // namespace

std::optional<Diagnostic> find_unreadable(const std::shared_ptr<const SourceFile>& file,
                                          const DocumentLimits& limits) {
  const std::size_t size = file->text.size();
  if (size <= limits.bytes) {
    return find_non_text(file);
  }
  return Diagnostic{
      .id = "document-size",
      .message = fmt::format("expected at most {} bytes, found {}", limits.bytes, size),
      .location = {file, 0, 0},
      .label = {}};
}

TreeBuilder::TreeBuilder(std::shared_ptr<const SourceFile> file, const DocumentLimits& limits)
    : file_(std::move(file)), limits_(limits) {
  limits_.depth = std::min(limits_.depth, kDeepest);
}

bool TreeBuilder::begin_collection(Node::Kind kind, std::size_t begin) {
  if (open_.size() >= limits_.depth) {
    error("document-depth", fmt::format("nested more than {} deep", limits_.depth), begin,
          begin + 1);
    return false;
  }
  Node* node = next_node(begin, begin + 1);
  if (node == nullptr) {
    return false;
  }
  node->kind = kind;
  open_.push_back(node);
  return true;
}

void TreeBuilder::end_collection(std::size_t end) {
  Node& node = *open_.back();
  node.location.end = end;
  open_.pop_back();
  if (node.is_mapping()) {
    report_duplicate_keys(node);
  }
}

bool TreeBuilder::scalar(std::string text, bool quoted, std::size_t begin, std::size_t end) {
  Node* node = next_node(begin, end);
  if (node == nullptr) {
    return false;
  }
  node->kind = Node::Kind::kScalar;
  node->quoted = quoted;
  node->scalar = std::move(text);
  return true;
}

bool TreeBuilder::null(std::size_t begin, std::size_t end) {
  return next_node(begin, end) != nullptr;
}

void TreeBuilder::key(std::string text, std::size_t begin, std::size_t end) {
  open_.back()->entries.push_back({std::move(text), at(begin, end), Node{}});
  key_is_read_ = true;
}

bool TreeBuilder::expects_key() const {
  return !open_.empty() && open_.back()->is_mapping() && !key_is_read_;
}

void TreeBuilder::error(std::string id, std::string message, Location location, std::string label) {
  diagnostics_.push_back({.id = std::move(id),
                          .message = std::move(message),
                          .location = std::move(location),
                          .label = std::move(label)});
}

void TreeBuilder::error(std::string id, std::string message, std::size_t begin, std::size_t end,
                        std::string label) {
  error(std::move(id), std::move(message), at(begin, end), std::move(label));
}

Result<Node> TreeBuilder::finish() && {
  if (!diagnostics_.empty()) {
    return failure(std::move(diagnostics_));
  }
  return std::move(root_);
}

Node* TreeBuilder::next_node(std::size_t begin, std::size_t end) {
  if (++nodes_ > limits_.nodes) {
    error("document-nodes", fmt::format("more than {} values in one file", limits_.nodes), begin,
          end);
    return nullptr;
  }
  Node* node = &root_;
  if (!open_.empty() && open_.back()->is_mapping()) {
    node = &open_.back()->entries.back().value;
  } else if (!open_.empty()) {
    node = &open_.back()->items.emplace_back();
  }
  key_is_read_ = false;
  node->location = at(begin, end);
  return node;
}

void TreeBuilder::report_duplicate_keys(const Node& mapping) {
  const std::vector<Node::Entry>& entries = mapping.entries;
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&entries](std::size_t a, std::size_t b) {
    return std::tie(entries[a].key, a) < std::tie(entries[b].key, b);
  });
  std::size_t first = 0;
  for (std::size_t i = 1; i < order.size() && duplicates_ < kMostDuplicates; ++i) {
    const Node::Entry& entry = entries[order[i]];
    if (entry.key != entries[order[first]].key) {
      first = i;
      continue;
    }
    ++duplicates_;
    diagnostics_.push_back({.id = "duplicate-key",
                            .message = fmt::format("the key '{}' is given twice", entry.key),
                            .location = entry.key_location,
                            .label = "remove one of the two"});
    diagnostics_.push_back({.id = {},
                            .message = "first given here",
                            .location = entries[order[first]].key_location,
                            .label = {},
                            .severity = Severity::kNote});
  }
}

}  // namespace mansard
