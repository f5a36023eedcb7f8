#include "ir/graph_names.hpp"

#include <algorithm>
#include <array>

namespace mansard::ir {
namespace {

template <typename Enum>
struct Name {
  Enum value;
  std::string_view name;
};

constexpr std::array kRoles = {
    Name<Role>{Role::kActivation, "activation"},
    Name<Role>{Role::kWeight, "weight"},
    Name<Role>{Role::kKvCache, "kv_cache"},
    Name<Role>{Role::kState, "state"},
};

constexpr std::array kSplits = {
    Name<Split>{Split::kReplicated, "replicated"},
    Name<Split>{Split::kColumn, "column"},
    Name<Split>{Split::kRow, "row"},
    Name<Split>{Split::kHeads, "heads"},
    Name<Split>{Split::kVocabulary, "vocabulary"},
    Name<Split>{Split::kExperts, "experts"},
};

template <typename Table, typename Enum>
std::string_view name_in(const Table& table, Enum value) {
  return std::ranges::find(table, value, &Name<Enum>::value)->name;
}

template <typename Enum, typename Table>
std::optional<Enum> find_in(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Name<Enum>::name);
  return found == table.end() ? std::nullopt : std::optional(found->value);
}

template <typename Table>
std::vector<std::string> names_in(const Table& table) {
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const auto& entry : table) {
    names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace

std::string_view name_of(Role role) {
  return name_in(kRoles, role);
}
std::string_view name_of(Split split) {
  return name_in(kSplits, split);
}
std::optional<Role> find_role(std::string_view name) {
  return find_in<Role>(kRoles, name);
}
std::optional<Split> find_split(std::string_view name) {
  return find_in<Split>(kSplits, name);
}
std::vector<std::string> role_names() {
  return names_in(kRoles);
}
std::vector<std::string> split_names() {
  return names_in(kSplits);
}

}  // namespace mansard::ir
