#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mansard::frontend::hf {

/// A pattern of module names that quantisation configs use: a glob ("model.layers.*.self_attn"), or a regular expression
/// behind "re:", of which literals, classes, groups with alternatives and the quantifiers * + ? are understood. Matching
/// takes time linear in name times pattern, whatever the pattern.
class ModulePattern {
 public:
  /// Nothing if the expression uses more than is understood.
  [[nodiscard]] static std::optional<ModulePattern> parse(std::string_view text);
  /// Whether the pattern matches the beginning of `name`; a glob must end where a part of the name ends.
  [[nodiscard]] bool matches(std::string_view name) const;

 private:
  struct Token {
    std::string set;       ///< The characters; empty: any.
    bool negated = false;
    bool optional = false;
    bool repeats = false;
  };
  using Sequence = std::vector<Token>;

  static std::optional<std::vector<std::string>> alternatives(std::string_view expression);
  static std::optional<Sequence> parse_sequence(std::string_view expression);
  static std::optional<Token> parse_token(std::string_view expression, std::size_t& at);
  static Sequence parse_glob(std::string_view glob);
  [[nodiscard]] bool matches(const Sequence& sequence, std::string_view name) const;

  std::vector<Sequence> sequences_;
  std::string prefix_;       ///< Every match begins with it.
  bool whole_parts_ = false;
  bool to_the_end_ = false;
};

/// Many patterns at once. Plain names match any run of whole parts ("mlp.gate" in "model.layers.0.mlp.gate").
class ModuleSet {
 public:
  /// False if the pattern is not understood.
  [[nodiscard]] bool add(std::string_view pattern);
  [[nodiscard]] bool matches(std::string_view name) const;
  [[nodiscard]] bool empty() const { return names_.empty() && patterns_.empty(); }

 private:
  std::unordered_set<std::string> names_;
  std::vector<ModulePattern> patterns_;
};

}  // namespace mansard::frontend::hf
