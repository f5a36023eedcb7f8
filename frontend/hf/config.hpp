#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/document.hpp"
#include "support/result.hpp"

namespace mansard::frontend::hf {

/// Spellings of one concept, the first being the common one.
using KeyList = std::vector<std::string_view>;

/// A config.json as its text model sees it: nested text configs are unwrapped, what they leave out
/// is inherited from the objects around them, and every key that was asked for is remembered, so
/// that `finish` can refuse the others.
///
/// A key may be a path into a nested object ("attn_config.kv_n_heads"). An absent key and an
/// explicit null are the same: nothing. A value of a wrong type is a diagnostic, and reads as
/// nothing.
class Config {
 public:
  explicit Config(const Node& document);

  /// The value of `key`, or nullptr. Marks the key as read.
  [[nodiscard]] const Node* find(std::string_view key);
  /// The value of the first spelling that is there. Marks all; two spellings that disagree are an
  /// error.
  [[nodiscard]] const Node* find(const KeyList& spellings);
  /// Whether the key is there at all, a null included.
  [[nodiscard]] bool mentions(std::string_view key);

  [[nodiscard]] std::optional<std::int64_t> integer(const KeyList& spellings);  ///< 0 or more.
  /// As above, of the first spelling that is there; others may differ.
  [[nodiscard]] std::optional<std::int64_t> first_integer(const KeyList& spellings);
  [[nodiscard]] std::optional<double> number(std::string_view key);  ///< Finite.
  [[nodiscard]] std::optional<bool> boolean(std::string_view key);
  [[nodiscard]] std::optional<std::string> string(std::string_view key);
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key);  ///< Empty if absent.
  [[nodiscard]] std::vector<std::string> strings(std::string_view key);    ///< Empty if absent.

  /// Marks keys as known and of no effect.
  void ignore(std::initializer_list<std::string_view> keys);

  /// architectures[0] of the objects from the text model outwards, without those that have none.
  [[nodiscard]] std::vector<std::string> architectures();
  /// Likewise model_type.
  [[nodiscard]] std::vector<std::string> model_types();
  [[nodiscard]] bool nested() const { return objects_.size() > 1; }
  /// Whether an object outside the text model, or the text model's own, has this key.
  [[nodiscard]] bool anywhere(std::string_view key) const;
  [[nodiscard]] const Location& location() const { return objects_.back()->location; }

  void refuse(std::string id, std::string message, const Location& location,
              std::string label = {});
  void note(std::string sentence);

  /// Refuses by name every key that nothing read and that is not known to leave the graph as it is.
  void finish(std::string_view model);
  [[nodiscard]] Diagnostics& diagnostics() { return diagnostics_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  [[nodiscard]] static const Node* uniform(const Node* node);
  std::optional<std::int64_t> as_count(const Node* node);
  [[nodiscard]] const Node* look_up(std::string_view key) const;
  [[nodiscard]] bool was_read(std::string_view path) const;
  [[nodiscard]] bool was_read_within(std::string_view key) const;
  void check(const Node& object, bool text_model, std::string_view model);
  void check_entry(const Node::Entry& entry, std::string_view model);
  [[nodiscard]] std::vector<std::string> first_of_each(std::string_view key);

  std::vector<const Node*>
      objects_;  ///< From the whole document inwards; the last is the text model.
  std::set<std::string, std::less<>> read_;
  Diagnostics diagnostics_;
  std::vector<std::string> notes_;
};

}  // namespace mansard::frontend::hf
