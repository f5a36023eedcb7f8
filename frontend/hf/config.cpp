#include "frontend/hf/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "frontend/hf/ignored_keys.hpp"

namespace mansard::frontend::hf {

namespace {

/// Where multimodal and wrapper configs keep the text model.
constexpr std::array<std::string_view, 5> kTextConfigs = {
    "text_config", "llm_config", "language_config", "thinker_config", "text_model_config"};

/// What a text model takes from the objects around it where it does not say it itself.
constexpr std::array<std::string_view, 8> kInherited = {
    "tie_word_embeddings", "quantization_config",
    "compression_config",  "vocab_size",
    "torch_dtype",         "dtype",
    "hidden_act",          "max_position_embeddings"};

/// Deeper than any published config nests.
constexpr std::size_t kMostNesting = 4;

bool contains(std::span<const std::string_view> list, std::string_view key) {
  return std::ranges::find(list, key) != list.end();
}

const Node* text_config_of(const Node& object) {
  for (const std::string_view key : kTextConfigs) {
    const Node* nested = object.find(key);
    if (nested != nullptr && nested->is_mapping()) {
      return nested;
    }
  }
  return nullptr;
}

std::string_view kind_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return "null";
    case Node::Kind::kSequence:
      return "a list";
    case Node::Kind::kMapping:
      return "an object";
    case Node::Kind::kScalar:
      break;
  }
  return node.quoted ? "a string" : "a value";
}

/// Null, an empty list, an empty object.
bool says_nothing(const Node& node) {
  return node.is_null() || (node.is_sequence() && node.items.empty()) ||
         (node.is_mapping() && node.entries.empty());
}

std::string found(const Node& node) {
  if (!node.is_scalar()) {
    return std::string(kind_of(node));
  }
  const std::string shown = node.scalar.substr(0, 40);
  return node.quoted ? fmt::format("\"{}\"", shown) : shown;
}

}  // namespace

Config::Config(const Node& document) {
  objects_.push_back(&document);
  for (const Node* inner = text_config_of(document);
       inner != nullptr && objects_.size() < kMostNesting; inner = text_config_of(*inner)) {
    objects_.push_back(inner);
  }
}

const Node* Config::look_up(std::string_view key) const {
  const std::size_t dot = key.find('.');
  if (dot != std::string_view::npos) {
    const Node* outer = look_up(key.substr(0, dot));
    return outer != nullptr ? outer->find(key.substr(dot + 1)) : nullptr;
  }
  if (const Node* own = objects_.back()->find(key); own != nullptr && !own->is_null()) {
    return own;
  }
  if (!contains(kInherited, key)) {
    return objects_.back()->find(key);
  }
  for (const Node* object : objects_ | std::views::reverse) {
    const Node* inherited = object->find(key);
    if (inherited != nullptr && !inherited->is_null()) {
      return inherited;
    }
  }
  return nullptr;
}

const Node* Config::find(std::string_view key) {
  read_.emplace(key);
  const Node* node = look_up(key);
  return node != nullptr && !node->is_null() ? node : nullptr;
}

const Node* Config::find(const KeyList& spellings) {
  const Node* chosen = nullptr;
  std::string_view chosen_key;
  for (const std::string_view key : spellings) {
    const Node* node = find(key);
    if (node == nullptr) {
      continue;
    }
    if (chosen == nullptr) {
      chosen = node;
      chosen_key = key;
    } else if (node->is_scalar() && chosen->is_scalar() && node->scalar != chosen->scalar) {
      refuse("config-contradiction",
             fmt::format("{} is {}, but {} is {}", key, found(*node), chosen_key, found(*chosen)),
             node->location, "both mean the same");
    }
  }
  return chosen;
}

bool Config::mentions(std::string_view key) {
  read_.emplace(key);
  return look_up(key) != nullptr;
}

bool Config::anywhere(std::string_view key) const {
  return std::ranges::any_of(objects_, [&](const Node* object) {
    const Node* node = object->find(key);
    return node != nullptr && !node->is_null();
  });
}

std::optional<std::int64_t> Config::integer(const KeyList& spellings) {
  return as_count(find(spellings));
}

std::optional<std::int64_t> Config::first_integer(const KeyList& spellings) {
  const Node* first = nullptr;
  for (const std::string_view key : spellings) {
    const Node* node = find(key);
    first = first != nullptr ? first : node;
  }
  return as_count(first);
}

/// A list with the same number for every layer is that number (hunyuan).
const Node* Config::uniform(const Node* node) {
  if (node == nullptr || !node->is_sequence() || node->items.empty()) {
    return node;
  }
  const Node& first = node->items.front();
  const bool same = std::ranges::all_of(
      node->items, [&](const Node& item) { return item.scalar == first.scalar; });
  return same ? &first : node;
}

std::optional<std::int64_t> Config::as_count(const Node* node) {
  node = uniform(node);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto value = node->as_integer();
  if (!value || *value < 0 || *value > kLargestInteger) {
    refuse("config-type", fmt::format("expected a count, found {}", found(*node)), node->location);
    return std::nullopt;
  }
  return value;
}

std::optional<double> Config::number(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto value = node->as_number();
  if (!value || !std::isfinite(*value) || std::abs(*value) > kLargestNumber) {
    refuse("config-type", fmt::format("expected a number, found {}", found(*node)), node->location);
    return std::nullopt;
  }
  return value;
}

std::optional<bool> Config::boolean(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto value = node->as_bool();
  if (!value) {
    refuse("config-type", fmt::format("expected true or false, found {}", found(*node)),
           node->location);
  }
  return value;
}

std::optional<std::string> Config::string(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!node->is_scalar()) {
    refuse("config-type", fmt::format("expected a string, found {}", found(*node)), node->location);
    return std::nullopt;
  }
  return node->scalar;
}

std::vector<std::int64_t> Config::integers(std::string_view key) {
  std::vector<std::int64_t> values;
  const Node* node = find(key);
  if (node == nullptr) {
    return values;
  }
  if (!node->is_sequence()) {
    refuse("config-type", fmt::format("expected a list of counts, found {}", found(*node)),
           node->location);
    return values;
  }
  for (const Node& item : node->items) {
    const auto value = item.as_integer();
    if (!value || *value < 0 || *value > kLargestInteger) {
      refuse("config-type", fmt::format("expected a count, found {}", found(item)), item.location);
      continue;
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<std::string> Config::strings(std::string_view key) {
  std::vector<std::string> values;
  const Node* node = find(key);
  if (node == nullptr) {
    return values;
  }
  if (!node->is_sequence()) {
    refuse("config-type", fmt::format("expected a list of strings, found {}", found(*node)),
           node->location);
    return values;
  }
  for (const Node& item : node->items) {
    if (item.is_scalar()) {
      values.push_back(item.scalar);
    } else {
      refuse("config-type", fmt::format("expected a string, found {}", found(item)), item.location);
    }
  }
  return values;
}

void Config::ignore(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    read_.emplace(key);
  }
}

std::vector<std::string> Config::first_of_each(std::string_view key) {
  read_.emplace(key);
  std::vector<std::string> values;
  for (const Node* object : objects_ | std::views::reverse) {
    const Node* node = object->find(key);
    if (node != nullptr && node->is_sequence() && !node->items.empty()) {
      node = &node->items.front();
    }
    if (node != nullptr && node->is_scalar()) {
      values.push_back(node->scalar);
    }
  }
  return values;
}

std::vector<std::string> Config::architectures() {
  return first_of_each("architectures");
}
std::vector<std::string> Config::model_types() {
  return first_of_each("model_type");
}

void Config::refuse(std::string id, std::string message, const Location& location,
                    std::string label) {
  diagnostics_.push_back({std::move(id), std::move(message), location, std::move(label)});
}

void Config::note(std::string sentence) {
  if (std::ranges::find(notes_, sentence) == notes_.end()) {
    notes_.push_back(std::move(sentence));
  }
}

bool Config::was_read(std::string_view path) const {
  return read_.find(path) != read_.end();
}

bool Config::was_read_within(std::string_view key) const {
  const std::string prefix = std::string(key) + ".";
  const auto next = read_.lower_bound(prefix);
  return next != read_.end() && next->starts_with(prefix);
}

void Config::check_entry(const Node::Entry& entry, std::string_view model) {
  if (was_read(entry.key) || says_nothing(entry.value) || has_no_effect(entry.key)) {
    return;
  }
  if (entry.value.is_mapping() && was_read_within(entry.key)) {
    for (const Node::Entry& inner : entry.value.entries) {
      const std::string path = entry.key + "." + inner.key;
      if (!was_read(path) && !says_nothing(inner.value) && !has_no_effect(inner.key)) {
        refuse("config-key",
               fmt::format("key {} of {} is not understood and may change the graph", path, model),
               inner.key_location);
      }
    }
    return;
  }
  refuse("config-key",
         fmt::format("key {} of {} is not understood and may change the graph", entry.key, model),
         entry.key_location);
}

void Config::check(const Node& object, bool text_model, std::string_view model) {
  for (const Node::Entry& entry : object.entries) {
    const bool aside =
        text_model ? names_other_modality(entry.key) : belongs_beside_text(entry.key);
    if (!aside && !contains(kTextConfigs, entry.key)) {
      check_entry(entry, model);
    }
  }
}

void Config::finish(std::string_view model) {
  for (const Node* object : objects_) {
    check(*object, object == objects_.back(), model);
  }
}

}  // namespace mansard::frontend::hf
