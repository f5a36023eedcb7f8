#include "frontend/ptx/scopes.hpp"

#include <charconv>

namespace mansard::frontend::ptx {
namespace {

/// The number behind the first `prefix` letters; nothing if what stands there is no number as it
/// would be written.
std::optional<std::uint32_t> number_behind(std::string_view name, std::size_t prefix) {
  const std::string_view digits = name.substr(prefix);
  if (digits.size() > 1 && digits.front() == '0') {
    return std::nullopt;
  }
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

bool Scopes::declare(std::string_view name, Entity entity) {
  Scope& scope = scopes_.back();
  return range_with(scope, name) == nullptr && scope.names.emplace(name, entity).second;
}

bool Scopes::declare_range(std::string_view name, std::uint32_t count, Type type,
                           std::uint8_t width) {
  std::vector<RangeOfNames>& ranges = scopes_.back().ranges[name];
  ranges.push_back({count, type, width});
  return ranges.size() == 1;
}

const Scopes::RangeOfNames* Scopes::range_with(const Scope& scope, std::string_view name) {
  if (scope.ranges.empty()) {
    return nullptr;
  }
  std::size_t prefix = name.size();
  while (prefix > 1 && name[prefix - 1] >= '0' && name[prefix - 1] <= '9') {
    --prefix;
    const auto found = scope.ranges.find(name.substr(0, prefix));
    if (found == scope.ranges.end()) {
      continue;
    }
    const std::optional<std::uint32_t> number = number_behind(name, prefix);
    for (const RangeOfNames& range : found->second) {
      if (number && *number < range.count) {
        return &range;
      }
    }
  }
  return nullptr;
}

Entity* Scopes::find_in(Scope& scope, std::string_view name) {
  const auto found = scope.names.find(name);
  if (found != scope.names.end()) {
    return &found->second;
  }
  const RangeOfNames* range = range_with(scope, name);
  if (range == nullptr) {
    return nullptr;
  }
  const Entity entity = {EntityKind::kUnusedRegister, range->type, range->width, 0};
  return &scope.names.emplace(name, entity).first->second;
}

Entity* Scopes::find(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (Entity* entity = find_in(*scope, name)) {
      return entity;
    }
  }
  return nullptr;
}

Entity* Scopes::find_innermost(std::string_view name) {
  return find_in(scopes_.back(), name);
}

Entity* Scopes::find_outermost(std::string_view name) {
  return find_in(scopes_.front(), name);
}

void Scopes::declare_outermost(std::string_view name, Entity entity) {
  scopes_.front().names.emplace(name, entity);
}

std::vector<std::string> Scopes::names() const {
  constexpr std::size_t kMost = 1000;
  std::vector<std::string> names;
  for (const Scope& scope : scopes_) {
    for (const auto& [name, entity] : scope.names) {
      if (names.size() < kMost) {
        names.emplace_back(name);
      }
    }
  }
  return names;
}

}  // namespace mansard::frontend::ptx
