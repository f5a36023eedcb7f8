#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "frontend/hf/name_expression.hpp"

namespace mansard::frontend::hf {

/// A pattern of module names as quantisation configs write them: a glob
/// ("model.layers.*.self_attn"), or a regular expression behind "re:". Matching takes time linear
/// in name times pattern, whatever the pattern.
class ModulePattern {
 public:
  /// Nothing if the expression uses more than `parse_expression` understands.
  [[nodiscard]] static std::optional<ModulePattern> parse(std::string_view text);
  /// Whether the pattern matches the beginning of `name`; a glob must end where a part of the name
  /// ends.
  [[nodiscard]] bool matches(std::string_view name) const;
  [[nodiscard]] std::size_t tokens() const;

 private:
  std::vector<NameTokens> ways_;
  std::string prefix_;  ///< Every match begins with it.
  bool whole_parts_ = false;
  bool to_the_end_ = false;
};

/// Many patterns at once. Plain names match any run of whole parts ("mlp.gate" in
/// "model.layers.0.mlp.gate").
class ModuleSet {
 public:
  /// False if the pattern is not understood.
  [[nodiscard]] bool add(std::string_view pattern);
  [[nodiscard]] bool matches(std::string_view name) const;
  [[nodiscard]] bool empty() const { return names_.empty() && patterns_.empty(); }
  /// What one look-up may cost: the tokens of all patterns.
  [[nodiscard]] std::size_t cost() const { return cost_; }
  /// Whether some pattern's text holds `word`.
  [[nodiscard]] bool mentions(std::string_view word) const;

 private:
  [[nodiscard]] bool names(std::string_view name) const;

  std::unordered_set<std::string> names_;
  std::vector<ModulePattern> patterns_;
  std::string texts_;  ///< Of the patterns, one a line.
  std::size_t cost_ = 0;
};

}  // namespace mansard::frontend::hf
