#include "frontend/hf/module_pattern.hpp"

#include <algorithm>
#include <utility>

namespace mansard::frontend::hf {

namespace {

/// Longer than any published pattern.
constexpr std::size_t kLongestPattern = 400;

}  // namespace

std::optional<ModulePattern> ModulePattern::parse(std::string_view text) {
  if (text.size() > kLongestPattern) {
    return std::nullopt;
  }
  ModulePattern pattern;
  if (!text.starts_with("re:")) {
    pattern.whole_parts_ = true;
    pattern.prefix_ = text.substr(0, text.find_first_of("*?"));
    pattern.ways_.push_back(parse_glob(text));
    return pattern;
  }
  text.remove_prefix(3);
  text.remove_prefix(text.starts_with('^') ? 1 : 0);
  pattern.to_the_end_ = text.ends_with('$') && !text.ends_with("\\$");
  text.remove_suffix(pattern.to_the_end_ ? 1 : 0);
  auto ways = parse_expression(text);
  if (!ways) {
    return std::nullopt;
  }
  pattern.ways_ = std::move(*ways);
  return pattern;
}

std::size_t ModulePattern::tokens() const {
  std::size_t sum = 0;
  for (const NameTokens& way : ways_) {
    sum += way.size();
  }
  return sum;
}

bool ModulePattern::matches(std::string_view name) const {
  if (!name.starts_with(prefix_)) {
    return false;
  }
  const auto may_end = [&](std::size_t end) {
    const bool at_end = end == name.size();
    return at_end || (!to_the_end_ && (!whole_parts_ || name[end] == '.'));
  };
  return std::ranges::any_of(ways_, [&](const NameTokens& way) {
    return std::ranges::any_of(ends_of_match(way, name), may_end);
  });
}

bool ModuleSet::add(std::string_view pattern) {
  if (!pattern.starts_with("re:") && pattern.find_first_of("*?") == std::string_view::npos) {
    names_.emplace(pattern);
    return true;
  }
  auto parsed = ModulePattern::parse(pattern);
  if (!parsed) {
    return false;
  }
  cost_ += parsed->tokens();
  patterns_.push_back(std::move(*parsed));
  texts_.append(pattern).append("\n");
  return true;
}

bool ModuleSet::mentions(std::string_view word) const {
  return texts_.find(word) != std::string::npos ||
         std::ranges::any_of(
             names_, [&](const std::string& name) { return name.find(word) != std::string::npos; });
}

bool ModuleSet::names(std::string_view name) const {
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = name.find('.', end + 1);
    if (names_.contains(std::string(name.substr(0, end)))) {
      return true;
    }
  }
  return false;
}

bool ModuleSet::matches(std::string_view name) const {
  for (std::size_t begin = 0; !names_.empty() && begin != std::string_view::npos;) {
    if (names(name.substr(begin))) {
      return true;
    }
    const std::size_t dot = name.find('.', begin);
    begin = dot == std::string_view::npos ? dot : dot + 1;
  }
  return std::ranges::any_of(patterns_,
                             [&](const ModulePattern& pattern) { return pattern.matches(name); });
}

}  // namespace mansard::frontend::hf
