#pragma once

#include <bitset>
#include <optional>
#include <string_view>
#include <vector>

namespace mansard::frontend::hf {

/// One step of a pattern of names: a character that it takes, perhaps none, perhaps several.
struct NameToken {
  std::bitset<256> takes;
  bool optional = false;
  bool repeats = false;
};
using NameTokens = std::vector<NameToken>;

/// The ways through a regular expression made of literals, classes, groups with alternatives and
/// the quantifiers * + ? (of a group: ? only). Nothing if it uses more than that, or has more ways
/// than any real one.
[[nodiscard]] std::optional<std::vector<NameTokens>> parse_expression(std::string_view expression);

/// A glob: * any characters, ? one.
[[nodiscard]] NameTokens parse_glob(std::string_view glob);

/// Where in `name` a match of `tokens` that begins at its beginning can end.
[[nodiscard]] std::vector<std::size_t> ends_of_match(const NameTokens& tokens,
                                                     std::string_view name);

}  // namespace mansard::frontend::hf
