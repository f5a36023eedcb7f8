#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

/// How the text form and messages spell the enumerations of a graph.
namespace mansard::ir {

[[nodiscard]] std::string_view name_of(Role role);    ///< "weight", "kv_cache"...
[[nodiscard]] std::string_view name_of(Split split);  ///< "column", "heads"...
[[nodiscard]] std::optional<Role> find_role(std::string_view name);
[[nodiscard]] std::optional<Split> find_split(std::string_view name);

[[nodiscard]] std::vector<std::string> role_names();
[[nodiscard]] std::vector<std::string> split_names();

}  // namespace mansard::ir
