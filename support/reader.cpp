#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/document.hpp"
#include "support/suggest.hpp"

namespace mansard {
namespace {

/// Of a file that is of another kind altogether, so many unknown keys tell enough.
constexpr std::size_t kMostUnknownKeys = 20;
/// So many known keys still make a helpful list.
constexpr std::size_t kMostListedKeys = 8;

std::string_view kind_name(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return "null";
    case Node::Kind::kSequence:
      return "a list";
    case Node::Kind::kMapping:
      return "a mapping";
    case Node::Kind::kScalar:
      break;
  }
  if (node.as_number()) {
    return "a number";
  }
  return node.as_bool() ? "a truth value" : "text";
}

/// The start of a collection: its whole extent would underline lines that are not at fault.
Location narrow(const Node& node) {
  Location location = node.location;
  if (!node.is_scalar()) {
    location.end = std::min(location.end, location.begin + 1);
  }
  return location;
}

}  // namespace

Reader::Reader(const Node& node, Diagnostics& diagnostics)
    : node_(&node), diagnostics_(&diagnostics) {
  if (!node.is_mapping()) {
    wrong_type("a mapping", node);
  }
}

bool Reader::has(std::string_view key) {
  return find(key) != nullptr;
}

const Node* Reader::find(std::string_view key) {
  ignore(key);
  return node_->find(key);
}

const Node* Reader::require(std::string_view key) {
  const Node* value = find(key);
  if (value == nullptr && node_->is_mapping()) {
    error("missing-key", fmt::format("the key '{}' is missing", key), narrow(*node_));
  }
  return value;
}

const Node* Reader::sequence(std::string_view key) {
  return collection(key, Node::Kind::kSequence, "a list");
}

const Node* Reader::mapping(std::string_view key) {
  return collection(key, Node::Kind::kMapping, "a mapping");
}

std::optional<std::string> Reader::string(std::string_view key) {
  const Node* value = present(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  return take_string(*value);
}

std::optional<std::int64_t> Reader::integer(std::string_view key) {
  const Node* value = present(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  return take_integer(*value);
}

std::optional<double> Reader::number(std::string_view key) {
  const Node* value = present(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::optional<double> number = value->as_number();
  if (!number) {
    wrong_type("a number", *value);
  }
  return number;
}

std::optional<bool> Reader::boolean(std::string_view key) {
  const Node* value = present(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::optional<bool> boolean = value->as_bool();
  if (!boolean) {
    wrong_type("true or false", *value);
  }
  return boolean;
}

std::string Reader::required_string(std::string_view key) {
  const Node* value = require(key);
  return value == nullptr ? std::string{} : take_string(*value).value_or("");
}

std::int64_t Reader::required_integer(std::string_view key) {
  const Node* value = require(key);
  return value == nullptr ? 0 : take_integer(*value).value_or(0);
}

void Reader::ignore(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) {
    known_.emplace_back(key);
  }
}

void Reader::error(std::string id, std::string message, const Location& location,
                   std::string label) {
  diagnostics_->push_back({.id = std::move(id),
                           .message = std::move(message),
                           .location = location,
                           .label = std::move(label)});
}

void Reader::finish() {
  const std::vector<const Node::Entry*> unknown = unread();
  for (std::size_t i = 0; i < unknown.size() && i < kMostUnknownKeys; ++i) {
    const Node::Entry& entry = *unknown[i];
    std::string label;
    if (const auto meant = did_you_mean(entry.key, known_)) {
      label = fmt::format("did you mean '{}'?", *meant);
    } else if (!known_.empty() && known_.size() <= kMostListedKeys) {
      label = fmt::format("known here: {}", fmt::join(known_, ", "));
    }
    error("unknown-key", fmt::format("unknown key '{}'", entry.key), entry.key_location, label);
  }
  if (unknown.size() > kMostUnknownKeys) {
    error("unknown-key", fmt::format("{} more unknown keys", unknown.size() - kMostUnknownKeys),
          unknown[kMostUnknownKeys]->key_location, "the first of them");
  }
}

std::vector<const Node::Entry*> Reader::unread() const {
  const std::unordered_set<std::string_view> known(known_.begin(), known_.end());
  std::vector<const Node::Entry*> result;
  for (const Node::Entry& entry : node_->entries) {
    if (!known.contains(entry.key)) {
      result.push_back(&entry);
    }
  }
  return result;
}

const Node* Reader::present(std::string_view key) {
  const Node* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const Node* Reader::collection(std::string_view key, Node::Kind kind, std::string_view expected) {
  const Node* value = present(key);
  if (value == nullptr || value->kind == kind) {
    return value;
  }
  wrong_type(expected, *value);
  return nullptr;
}

std::optional<std::string> Reader::take_string(const Node& value) {
  if (value.is_scalar()) {
    return value.scalar;
  }
  wrong_type("text", value);
  return std::nullopt;
}

std::optional<std::int64_t> Reader::take_integer(const Node& value) {
  const std::optional<std::int64_t> integer = value.as_integer();
  if (!integer) {
    wrong_type("an integer", value);
  }
  return integer;
}

void Reader::wrong_type(std::string_view expected, const Node& found) {
  error("wrong-type", fmt::format("expected {}, found {}", expected, kind_name(found)),
        narrow(found));
}

}  // namespace mansard
